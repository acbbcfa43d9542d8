package ship

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/opcast/opcast/cmd/opcast/internal/app"
	"github.com/opcast/opcast/internal/build/doctor"
	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/language/opdef/manifest"
	"github.com/opcast/opcast/internal/language/opdef/tomldoc"
)

func newDoctorCmd(a commands) *cobra.Command {
	asJSON, python := false, ""
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what works on this machine, and what to do about the rest",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.doctor(cmd.Context(), python, asJSON)
		},
	}
	app.PythonFlag(cmd, &python)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	return cmd
}

func (a commands) doctor(ctx context.Context, python string, asJSON bool) error {
	q := doctor.Query{Python: python, Dir: a.Dir, Manifest: a.anyManifest(), Getenv: os.Getenv}
	findings := doctor.Look(ctx, q)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	print := a.printFindings
	if asJSON {
		print = func(list []doctor.Finding) error {
			return a.PrintJSON(struct {
				Findings []doctor.Finding `json:"findings"`
			}{list})
		}
	}
	if err := print(findings); err != nil {
		return err
	}
	if slices.ContainsFunc(findings, func(f doctor.Finding) bool { return f.State == doctor.Lacks }) {
		return app.ExitError{Code: app.ExitMachine}
	}
	return nil
}

// anyManifest is the project's manifest as far as it can be read, else that of a project which says nothing.
func (a commands) anyManifest() manifest.Manifest {
	var mistakes diag.List // opcast check reports them
	data, _ := os.ReadFile(filepath.Join(a.Dir, manifest.File))
	doc := tomldoc.Parse(manifest.File, data, &mistakes)
	if doc == nil {
		doc = tomldoc.Parse(manifest.File, nil, &mistakes)
	}
	return manifest.Check(doc, func(string) string { return "" }, &mistakes)
}

// printFindings prints a line for each, with its remedy below.
func (a commands) printFindings(findings []doctor.Finding) error {
	w := tabwriter.NewWriter(a.Stdout, 0, 0, 2, ' ', 0)
	for _, f := range findings {
		fmt.Fprintf(w, "%s\t%s\t%s\n", f.State, f.Subject, f.Text)
		if f.Remedy != "" {
			fmt.Fprintf(w, "\t\t%s\n", f.Remedy)
		}
	}
	return w.Flush()
}
