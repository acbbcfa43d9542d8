package command

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/opcast/opcast/internal/audit"
	"github.com/opcast/opcast/internal/diag"
)

func newAuditCmd(a *app) *cobra.Command {
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
func (a *app) audit(files []string, rules audit.Rules, asJSON bool) error {
	var reports []*audit.Report
	var missing error
	for _, file := range files {
		report, err := audit.File(file, rules)
		if errors.Is(err, audit.ErrUnknownStandard) {
			return ExitError{Code: exitUsage, Err: err}
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
		if err := print(); missing == nil || err != nil && !errors.As(err, &ExitError{}) {
			return err
		}
	}
	return ExitError{Code: exitUsage, Err: missing}
}

// auditText prints what the files are, and then what is wrong with them.
func (a *app) auditText(reports []*audit.Report, rules audit.Rules) error {
	var all diag.List
	libraries := 0
	for _, r := range reports {
		if w := r.Wheel; w != nil {
			fmt.Fprintf(a.stdout, "%s: %s %s, %s, %s\n", r.File, w.Distribution, w.Version, count(w.Files, "file"), strings.Join(w.Tags, " "))
		}
		for _, lib := range r.Libraries {
			a.printLibrary(lib)
		}
		libraries += len(r.Libraries)
		all = append(all, r.Findings...)
	}
	if err := a.findings(all); err != nil {
		return err
	}
	_, err := fmt.Fprintf(a.stdout, "%s, no mistakes: %s for %s\n", count(len(reports), "file"), plural(libraries, "library", "libraries"), rules.Standard)
	return err
}

// printLibrary prints the facts of a library, one kind on a line.
func (a *app) printLibrary(lib audit.Facts) {
	var versions, hosts []string
	for _, word := range slices.Sorted(maps.Keys(lib.Versions)) {
		versions = append(versions, word+"_"+lib.Versions[word])
	}
	for _, name := range slices.Sorted(maps.Keys(lib.Hosts)) {
		hosts = append(hosts, fmt.Sprintf("%s (%s)", name, count(lib.Hosts[name], "symbol")))
	}
	stripped := ""
	if lib.Stripped {
		stripped = ", stripped"
	}
	fmt.Fprintf(a.stdout, "%s: %s, %s%s\n", lib.File, lib.Machine, count(lib.Exports, "export"), stripped)
	for _, line := range []struct {
		name  string
		words []string
	}{
		{"versions", versions}, {"libraries", lib.Needed}, {"folders", lib.Search}, {"expects", hosts}, {"GPU code", lib.DeviceCode},
	} {
		if len(line.words) > 0 {
			fmt.Fprintf(a.stdout, "  %-10s %s\n", line.name, strings.Join(line.words, " "))
		}
	}
}

// auditJSON prints one object for each file.
func (a *app) auditJSON(reports []*audit.Report) error {
	type result struct {
		*audit.Report
		Findings []finding `json:"findings"`
	}
	results, wrong := []result{}, false
	for _, r := range reports {
		results = append(results, result{r, findingsOf(r.Findings)})
		wrong = wrong || len(r.Findings) > 0
	}
	if err := a.printJSON(results); err != nil {
		return err
	}
	if wrong {
		return ExitError{Code: exitFindings}
	}
	return nil
}
