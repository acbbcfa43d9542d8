package author

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/opcast/opcast/backend"
	"github.com/opcast/opcast/cmd/opcast/internal/app"
	"github.com/opcast/opcast/internal/build"
	"github.com/opcast/opcast/internal/build/tree"
	"github.com/opcast/opcast/internal/language/opdef"
)

func newGenCmd(a commands) *cobra.Command {
	check := false
	cmd := &cobra.Command{
		Use:   "gen",
		Short: "Generate the backend, the adaptors and the pages from the definitions",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := a.Load()
			if err != nil {
				return err
			}
			if check {
				return a.checkGenerated(p)
			}
			n, err := a.generateAlone(cmd.Context(), p)
			if err == nil {
				_, err = fmt.Fprintf(a.Stdout, "%s changed\n", app.Count(n, "file"))
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&check, "check", false, "write nothing; exit 1 if a generated file is not up to date")
	return cmd
}

// generateAlone generates while no other process builds or generates in the project's folder.
func (a commands) generateAlone(ctx context.Context, p *opdef.Project) (int, error) {
	lock, err := build.LockProject(ctx, p.Dir, a.Stderr)
	if err != nil {
		return 0, err
	}
	defer lock.Release()
	return a.Generate(p)
}

func (a commands) checkGenerated(p *opdef.Project) error {
	changes, err := a.Changes(p)
	if err != nil {
		return err
	}
	if err := changes.Close(); err != nil {
		return fmt.Errorf("close project: %w", err)
	}
	runtime, err := tree.StaleRuntime(p.Dir, backend.FS)
	if err != nil {
		return err
	}
	if changes.Empty() && len(runtime) == 0 {
		_, err := fmt.Fprintln(a.Stdout, "generated files are up to date")
		return err
	}
	for _, f := range changes.Write {
		runtime = append(runtime, f.Path)
	}
	for _, path := range runtime {
		if _, err := fmt.Fprintf(a.Stderr, "%s: stale\n", path); err != nil {
			return err
		}
	}
	for _, path := range changes.Remove {
		if _, err := fmt.Fprintf(a.Stderr, "%s: left over\n", path); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintln(a.Stderr, "run: opcast gen")
	return errors.Join(err, app.ExitError{Code: app.ExitFindings})
}
