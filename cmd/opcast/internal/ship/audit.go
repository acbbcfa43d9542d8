package ship

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/opcast/opcast/cmd/opcast/internal/app"
	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/ship/audit"
)

func newAuditCmd(a commands) *cobra.Command {
	var rules audit.Rules
	asJSON := false
	cmd := &cobra.Command{
		Use:   "audit FILE...",
		Short: "Judge libraries and wheels: will they load on other machines, and leave the process alone",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, files []string) error {
			return a.audit(files, rules, asJSON)
		},
	}
	cmd.Flags().StringVar(&rules.Standard, "standard", audit.DefaultStandard, "systems on which they must load, as in the tags of wheels")
	cmd.Flags().StringSliceVar(&rules.Needed, "allow", nil, "libraries that users have, such as libcublas.so")
	cmd.Flags().StringSliceVar(&rules.Exports, "export", nil, "beginnings of names that may be exported, beside entry points")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	return cmd
}

// audit judges files. One that cannot be read keeps no other from being judged, and decides the exit code.
func (a commands) audit(files []string, rules audit.Rules, asJSON bool) error {
	var reports []*audit.Report
	var missing error
	for _, file := range files {
		report, err := audit.File(file, rules)
		if errors.Is(err, audit.ErrUnknownStandard) {
			return app.ExitError{Code: app.ExitUsage, Err: err}
		}
		if missing = errors.Join(missing, err); err == nil {
			reports = append(reports, report)
		}
	}
	print := func() error { return a.auditText(reports, rules) }
	if asJSON {
		print = func() error { return a.auditJSON(reports) }
	}
	if len(reports) > 0 || asJSON {
		if err := print(); missing == nil || err != nil && !errors.As(err, &app.ExitError{}) {
			return err
		}
	}
	return app.ExitError{Code: app.ExitUsage, Err: missing}
}

// auditText prints what the files are, and then what is wrong with them.
func (a commands) auditText(reports []*audit.Report, rules audit.Rules) error {
	var all diag.List
	libraries := 0
	for _, r := range reports {
		if w := r.Wheel; w != nil {
			fmt.Fprintf(a.Stdout, "%s: %s %s, %s, %s\n", r.File, w.Distribution, w.Version, app.Count(w.Files, "file"), strings.Join(w.Tags, " "))
		}
		for _, lib := range r.Libraries {
			a.printLibrary(lib)
		}
		libraries += len(r.Libraries)
		all = append(all, r.Findings...)
	}
	if err := a.Findings(all); err != nil {
		return err
	}
	_, err := fmt.Fprintf(a.Stdout, "%s, no mistakes: %s for %s\n", app.Count(len(reports), "file"), app.Plural(libraries, "library", "libraries"), rules.Standard)
	return err
}

// printLibrary prints the facts of a library, one kind on a line.
func (a commands) printLibrary(lib audit.Facts) {
	var versions, hosts []string
	for _, word := range slices.Sorted(maps.Keys(lib.Versions)) {
		versions = append(versions, word+"_"+lib.Versions[word])
	}
	for _, name := range slices.Sorted(maps.Keys(lib.Hosts)) {
		hosts = append(hosts, fmt.Sprintf("%s (%s)", name, app.Count(lib.Hosts[name], "symbol")))
	}
	stripped := ""
	if lib.Stripped {
		stripped = ", stripped"
	}
	fmt.Fprintf(a.Stdout, "%s: %s, %s%s\n", lib.File, lib.Machine, app.Count(lib.Exports, "export"), stripped)
	for _, line := range []struct {
		name  string
		words []string
	}{
		{"versions", versions}, {"libraries", lib.Needed}, {"folders", lib.Search}, {"expects", hosts}, {"GPU code", lib.DeviceCode},
	} {
		if len(line.words) > 0 {
			fmt.Fprintf(a.Stdout, "  %-10s %s\n", line.name, strings.Join(line.words, " "))
		}
	}
}

// auditJSON prints one object for each file.
func (a commands) auditJSON(reports []*audit.Report) error {
	type result struct {
		*audit.Report
		Findings diag.List `json:"findings"`
	}
	results, wrong := []result{}, false
	for _, r := range reports {
		results = append(results, result{r, r.Findings.Sorted()})
		wrong = wrong || len(r.Findings) > 0
	}
	if err := a.PrintJSON(results); err != nil {
		return err
	}
	if wrong {
		return app.ExitError{Code: app.ExitFindings}
	}
	return nil
}
