package author

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/opcast/opcast/cmd/opcast/internal/app"
	"github.com/opcast/opcast/gen"
	"github.com/opcast/opcast/internal/build/generated"
	"github.com/opcast/opcast/internal/build/pyenv"
	"github.com/opcast/opcast/internal/build/references"
	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/language/opdef"
)

func newCheckCmd(a commands) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Report every mistake in the manifest and the definitions",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, diags, err := a.Read()
			if err != nil {
				return err
			}
			if len(diags) == 0 { // else a definition may only seem to be missing
				diags = generated.Removed(p)
			}
			if len(diags) == 0 {
				diags, err = a.readReferences(cmd.Context(), p)
			}
			if err != nil {
				return err
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

// readReferences has Python read the references, if there is one.
func (a commands) readReferences(ctx context.Context, p *opdef.Project) (diag.List, error) {
	python := pyenv.AnyInterpreter(pyenv.Query{Dir: p.Dir, Getenv: os.Getenv})
	if python == "" {
		_, err := fmt.Fprintln(a.Stderr, "note: the references were not read: there is no python3")
		return nil, err
	}
	return references.Check(ctx, python, p)
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
