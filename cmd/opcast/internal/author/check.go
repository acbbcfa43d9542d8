package author

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/opcast/opcast/cmd/opcast/internal/app"
	"github.com/opcast/opcast/gen"
	"github.com/opcast/opcast/internal/build/generated"
	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/language/opdef"
)

func newCheckCmd(a commands) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Report every mistake in the manifest and the definitions",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			p, diags, err := a.Read()
			if err != nil {
				return err
			}
			if len(diags) == 0 { // else a definition may only seem to be missing
				diags = generated.Removed(p)
			}
			if asJSON {
				return a.checkJSON(p, diags)
			}
			if err := a.Findings(diags); err != nil {
				return err
			}
			if err := gen.Notes(p).Print(a.Stderr); err != nil {
				return err
			}
			_, err = fmt.Fprintf(a.Stdout, "%s, no mistakes\n", app.Count(len(p.Ops), "op"))
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	return cmd
}

func (a commands) checkJSON(p *opdef.Project, diags diag.List) error {
	result := struct {
		Ops         []string  `json:"ops"`
		Diagnostics diag.List `json:"diagnostics"`
		Notes       diag.List `json:"notes"`
	}{p.OpNames(), diags.Sorted(), diag.List{}}
	if len(diags) == 0 {
		result.Notes = gen.Notes(p).Sorted()
	}
	if err := a.PrintJSON(result); err != nil {
		return err
	}
	if len(diags) > 0 {
		return app.ExitError{Code: app.ExitFindings}
	}
	return nil
}
