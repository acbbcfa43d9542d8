package command

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/opcast/opcast/backend"
	"github.com/opcast/opcast/gen"
	"github.com/opcast/opcast/internal/build"
	"github.com/opcast/opcast/internal/generated"
	"github.com/opcast/opcast/internal/opdef"
)

func newGenCmd(a *app) *cobra.Command {
	check := false
	cmd := &cobra.Command{
		Use:   "gen",
		Short: "Generate the backend, the adaptors and the pages from the definitions",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := a.load()
			if err != nil {
				return err
			}
			if check {
				return a.checkGenerated(p)
			}
			n, err := a.generateAlone(cmd.Context(), p)
			if err == nil {
				_, err = fmt.Fprintf(a.stdout, "%s changed\n", count(n, "file"))
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&check, "check", false, "write nothing; exit 1 if a generated file is not up to date")
	return cmd
}

// changes finds the generated files that differ from those on disk. Mistakes in the definitions are printed.
func (a *app) changes(p *opdef.Project) (*gen.Changes, error) {
	changes, diags, err := generated.Compare(p)
	if err != nil {
		return nil, err
	}
	return changes, a.findings(diags)
}

// generateAlone generates while no other process builds or generates in the project's folder.
func (a *app) generateAlone(ctx context.Context, p *opdef.Project) (int, error) {
	lock, err := build.LockProject(ctx, p.Dir, a.stderr)
	if err != nil {
		return 0, err
	}
	defer lock.Release()
	return a.generate(p)
}

// generate brings the project's generated files and its runtime up to date and returns how many of the former changed. Whoever
// changed a definition gets the notes about it, also without asking for a check.
func (a *app) generate(p *opdef.Project) (int, error) {
	changes, err := a.changes(p)
	if err != nil {
		return 0, err
	}
	err = errors.Join(changes.Apply(), changes.Close())
	if err == nil {
		err = build.LayRuntime(p.Dir, backend.FS)
	}
	if err == nil && !changes.Empty() {
		err = gen.Notes(p).Print(a.stderr)
	}
	return len(changes.Write) + len(changes.Remove), err
}

func (a *app) checkGenerated(p *opdef.Project) error {
	changes, err := a.changes(p)
	if err != nil {
		return err
	}
	if err := changes.Close(); err != nil {
		return fmt.Errorf("close project: %w", err)
	}
	runtime, err := build.StaleRuntime(p.Dir, backend.FS)
	if err != nil {
		return err
	}
	if changes.Empty() && len(runtime) == 0 {
		_, err := fmt.Fprintln(a.stdout, "generated files are up to date")
		return err
	}
	for _, f := range changes.Write {
		runtime = append(runtime, f.Path)
	}
	for _, path := range runtime {
		if _, err := fmt.Fprintf(a.stderr, "%s: stale\n", path); err != nil {
			return err
		}
	}
	for _, path := range changes.Remove {
		if _, err := fmt.Fprintf(a.stderr, "%s: left over\n", path); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintln(a.stderr, "run: opcast gen")
	return errors.Join(err, ExitError{Code: exitFindings})
}
