package command

import (
	"fmt"

	"github.com/opcast/opcast/gen"
	"github.com/opcast/opcast/internal/diag"
	"github.com/opcast/opcast/internal/generated"
	"github.com/opcast/opcast/internal/opdef"
	"github.com/spf13/cobra"
)

func newCheckCmd(a *app) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Report every mistake in the manifest and the definitions",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			p, diags, err := a.read()
			if err != nil {
				return err
			}
			if len(diags) == 0 { // else a definition may only seem to be missing
				diags = generated.Removed(p)
			}
			if asJSON {
				return a.checkJSON(p, diags)
			}
			if err := a.findings(diags); err != nil {
				return err
			}
			if err := gen.Notes(p).Print(a.stderr); err != nil {
				return err
			}
			_, err = fmt.Fprintf(a.stdout, "%s, no mistakes\n", count(len(p.Ops), "op"))
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	return cmd
}

// finding is a diagnostic in JSON.
type finding struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Col  int    `json:"col"`
	Code string `json:"code"`
	Text string `json:"text"`
	Hint string `json:"hint,omitempty"`
}

func findingsOf(diags diag.List) []finding {
	findings := []finding{}
	for _, d := range diags.Sorted() {
		findings = append(findings, finding{d.File, d.Line, d.Col, d.Code, d.Text, d.Hint})
	}
	return findings
}

func (a *app) checkJSON(p *opdef.Project, diags diag.List) error {
	result := struct {
		Ops         []string  `json:"ops"`
		Diagnostics []finding `json:"diagnostics"`
		Notes       []finding `json:"notes"`
	}{p.OpNames(), findingsOf(diags), []finding{}}
	if len(diags) == 0 {
		result.Notes = findingsOf(gen.Notes(p))
	}
	if err := a.printJSON(result); err != nil {
		return err
	}
	if len(diags) > 0 {
		return ExitError{Code: exitFindings}
	}
	return nil
}
