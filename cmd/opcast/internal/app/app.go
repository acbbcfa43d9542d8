// Package app is what the commands share: streams, exit codes, the project and its build, and how mistakes are told. It knows no command.
package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/load"
	"github.com/opcast/opcast/internal/language/opdef/manifest"
)

// App is what the commands share: the program's path and streams, and the global flags.
type App struct {
	Self           string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Dir is the project's folder.
	Dir string
}

// Commands makes the commands of a package, whose constructors take what the commands share, with methods of the package.
func Commands[C any](shared C, constructors ...func(C) *cobra.Command) []*cobra.Command {
	var out []*cobra.Command
	for _, construct := range constructors {
		out = append(out, construct(shared))
	}
	return out
}

// Load reads the project. Its mistakes are printed, and become exit code 1.
func (a *App) Load() (*opdef.Project, error) {
	p, diags, err := a.Read()
	if err != nil {
		return nil, err
	}
	return p, a.Findings(diags)
}

// Read reads the project; a folder that is none is a wrong use.
func (a *App) Read() (*opdef.Project, diag.List, error) {
	if err := a.NeedProject(); err != nil {
		return nil, nil, err
	}
	return load.Load(a.Dir)
}

// NeedProject refuses a folder that is no project.
func (a *App) NeedProject() error {
	_, err := os.Stat(filepath.Join(a.Dir, manifest.File))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		err = fmt.Errorf("%s is no project: it has no %s (name the project with -C, or begin one with opcast init)", a.Dir, manifest.File)
		return ExitError{Code: ExitUsage, Err: err}
	}
	return nil
}

// Findings prints diagnostics and turns them into exit code 1.
func (a *App) Findings(diags diag.List) error {
	if len(diags) == 0 {
		return nil
	}
	if err := diags.Print(a.Stderr); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(a.Stderr, Count(len(diags), "mistake")); err != nil {
		return err
	}
	return ExitError{Code: ExitFindings}
}

// Count formats a number of things.
func Count(n int, thing string) string { return Plural(n, thing, thing+"s") }

// Plural formats a number of things whose plural has no s at its end.
func Plural(n int, one, many string) string {
	if n != 1 {
		one = many
	}
	return fmt.Sprintf("%d %s", n, one)
}

// PrintJSON prints the result of --json.
func (a *App) PrintJSON(result any) error {
	enc := json.NewEncoder(a.Stdout)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(result); err != nil {
		return fmt.Errorf("print result: %w", err)
	}
	return nil
}

// Notes prints what a user should know and need not act on.
func (a *App) Notes(notes []string) error {
	for _, note := range notes {
		if _, err := fmt.Fprintln(a.Stderr, "note:", note); err != nil {
			return err
		}
	}
	return nil
}

// LoadOp loads the project, and returns an op of it.
func (a *App) LoadOp(name string) (*opdef.Project, *opdef.Op, error) {
	p, err := a.Load()
	if err != nil {
		return nil, nil, err
	}
	op, err := FindOp(p, name)
	return p, op, err
}

// FindOp returns the op of a name; another name is a wrong use.
func FindOp(p *opdef.Project, name string) (*opdef.Op, error) {
	for _, op := range p.Ops {
		if op.Name == name {
			return op, nil
		}
	}
	hint := diag.DidYouMean(name, p.OpNames(), "opcast check --json lists the ops")
	return nil, ExitError{Code: ExitUsage, Err: fmt.Errorf("there is no op %q (%s)", name, hint)}
}
