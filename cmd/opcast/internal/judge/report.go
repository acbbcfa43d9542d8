package judge

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/opcast/opcast/cmd/opcast/internal/app"
	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/results/report"
)

const mergeLong = `Make one report of those of the parts of a run, such as "opcast test --shard 1/2" and "--shard 2/2".

Each DIR has a report.json, as --report DIR leaves it. The parts must be of one collection, library, suite and device. Where
a result is in several of them, the gravest counts. Exit codes are those of "opcast test": 1 if anything failed, or if a part
was interrupted.`

const diffLong = `List every result whose status differs between two runs, one per line with the status before and after. A result
that only one of the runs has is listed with a dash for the other.

BEFORE and AFTER are folders with a report.json, as --report DIR leaves it. The exit code is 1 if anything differs.`

func newReportCmd(a commands) *cobra.Command {
	cmd := &cobra.Command{
		Use: "report", Short: "Merge or compare reports of opcast test, or print what ran where and how fast", Args: cobra.NoArgs,
		// Without this, a misspelt subcommand would print help and succeed.
		RunE: func(*cobra.Command, []string) error {
			return app.Usage("report: expected merge, diff, support or bench")
		},
	}
	cmd.AddCommand(newReportMergeCmd(a), newReportDiffCmd(a), newReportSupportCmd(a), newReportBenchCmd(a))
	return cmd
}

func newReportMergeCmd(a commands) *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "merge DIR... -o DIR",
		Short: "Make one report of those of the parts of a run",
		Long:  mergeLong,
		Args:  cobra.MinimumNArgs(1),
		RunE:  func(_ *cobra.Command, dirs []string) error { return a.mergeReports(dirs, out) },
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "write the report into this folder")
	return cmd
}

func newReportDiffCmd(a commands) *cobra.Command {
	return &cobra.Command{
		Use:   "diff BEFORE AFTER",
		Short: "List the results whose status differs between two runs",
		Long:  diffLong,
		Args:  cobra.ExactArgs(2),
		RunE:  func(_ *cobra.Command, dirs []string) error { return a.diffReports(dirs) },
	}
}

// readReports reads the reports in folders.
func readReports(dirs []string) ([]*report.Report, error) {
	var out []*report.Report
	for _, dir := range dirs {
		r, err := report.Read(filepath.Join(dir, report.File))
		if err != nil {
			return nil, app.ExitError{Code: app.ExitUsage, Err: err}
		}
		out = append(out, r)
	}
	return out, nil
}

// diffReports prints what differs between the reports in two folders.
func (a commands) diffReports(dirs []string) error {
	reports, err := readReports(dirs)
	if err != nil {
		return err
	}
	changes, err := report.Diff(reports[0], reports[1])
	if err != nil {
		return app.ExitError{Code: app.ExitUsage, Err: err}
	}
	var text strings.Builder
	for i := range changes {
		c := &changes[i]
		fmt.Fprintf(&text, "%s: %s, then %s\n", c, cmp.Or(c.Before, "–"), cmp.Or(c.After, "–"))
	}
	_, err = fmt.Fprintf(a.Stdout, "%s%s with another status\n", diag.Plain(text.String()), app.Count(len(changes), "result"))
	if err == nil && len(changes) > 0 {
		return app.ExitError{Code: app.ExitFindings}
	}
	return err
}

// mergeReports joins the reports in folders, and brings their reproducers along.
func (a commands) mergeReports(dirs []string, out string) error {
	if out == "" {
		return app.ExitError{Code: app.ExitUsage, Err: errors.New("name the folder for the report: -o DIR")}
	}
	parts, err := readReports(dirs)
	if err != nil {
		return err
	}
	merged, err := report.Merge(parts...)
	if err != nil {
		return app.ExitError{Code: app.ExitUsage, Err: err}
	}
	for _, dir := range dirs {
		if err := copyCases(dir, out); err != nil {
			return err
		}
	}
	if err := merged.WriteFiles(out); err != nil {
		return err
	}
	summary, lacking := merged.Summary(), merged.InterruptionText()
	if lacking != "" {
		lacking += "\n"
	}
	_, err = fmt.Fprintf(a.Stdout, "%sreport: %s\n%s%s\n", merged.Table(), filepath.Join(out, "index.html"), diag.Plain(lacking), summary)
	if err == nil && (!summary.OK() || lacking != "") {
		return app.ExitError{Code: app.ExitFindings}
	}
	return err
}

// copyCases copies what repeats the failures of a report.
func copyCases(from, to string) error {
	root, err := os.OpenRoot(from)
	if err != nil {
		return fmt.Errorf("reproducers: %w", err)
	}
	defer func() { _ = root.Close() }() // it was only read from
	err = fs.WalkDir(root.FS(), "cases", func(name string, d fs.DirEntry, err error) error {
		switch path := filepath.Join(to, filepath.FromSlash(name)); {
		case err != nil:
			return err
		case d.IsDir():
			return os.MkdirAll(path, 0o755)
		case d.Type().IsRegular():
			text, err := root.ReadFile(name) // before it is written: both may be the same file
			if err == nil {
				err = os.WriteFile(path, text, 0o644)
			}
			return err
		}
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("reproducers: %w", err)
	}
	return nil
}
