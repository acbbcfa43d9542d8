package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/opcast/opcast/internal/report"
)

const mergeLong = `Make one report of those of the parts of a run, such as "opcast test --shard 1/2" and "--shard 2/2".

Each DIR has a report.json, as --report DIR leaves it. The parts must be of one collection, library, suite and device. Where
a result is in several of them, the gravest counts. Exit codes are those of "opcast test": 1 if anything failed.`

func newReportCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{Use: "report", Short: "Work with reports of opcast test", Args: cobra.NoArgs}
	var out string
	merge := &cobra.Command{
		Use:   "merge DIR... -o DIR",
		Short: "Make one report of those of the parts of a run",
		Long:  mergeLong,
		Args:  cobra.MinimumNArgs(1),
		RunE:  func(_ *cobra.Command, dirs []string) error { return a.mergeReports(dirs, out) },
	}
	merge.Flags().StringVarP(&out, "output", "o", "", "folder for the report")
	cmd.AddCommand(merge)
	return cmd
}

// mergeReports joins the reports in folders, and brings their reproducers along.
func (a *app) mergeReports(dirs []string, out string) error {
	if out == "" {
		return ExitError{Code: exitUsage, Err: errors.New("name the folder for the report: -o DIR")}
	}
	parts := make([]*report.Report, len(dirs))
	for i, dir := range dirs {
		var err error
		if parts[i], err = report.Read(filepath.Join(dir, report.File)); err != nil {
			return ExitError{Code: exitUsage, Err: err}
		}
	}
	merged, err := report.Merge(parts...)
	if err != nil {
		return ExitError{Code: exitUsage, Err: err}
	}
	for _, dir := range dirs {
		if err := copyCases(dir, out); err != nil {
			return err
		}
	}
	if err := merged.WriteFiles(out); err != nil {
		return err
	}
	summary := merged.Summary()
	_, err = fmt.Fprintf(a.stdout, "%sreport: %s\n%s\n", merged.Table(), filepath.Join(out, "index.html"), summary)
	if err == nil && !summary.OK() {
		return ExitError{Code: exitFindings}
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
