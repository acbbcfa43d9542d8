package app

import (
	"context"
	"errors"
	"os"

	"github.com/opcast/opcast/backend"
	"github.com/opcast/opcast/gen"
	"github.com/opcast/opcast/internal/build"
	"github.com/opcast/opcast/internal/build/generated"
	"github.com/opcast/opcast/internal/build/tree"
	"github.com/opcast/opcast/internal/language/opdef"
)

// Compile generates and builds in the environment of o; nothing but mistakes and the compiler's words are printed. The
// definitions are read when it is this build's turn: they may have changed while it waited.
func (a *App) Compile(ctx context.Context, o build.Options) (*build.Result, error) {
	lock, err := build.LockProject(ctx, a.Dir, a.Stderr)
	if err != nil {
		return nil, err
	}
	defer lock.Release()
	return a.CompileUnder(ctx, lock, o)
}

// CompileUnder is Compile for who holds the lock of the project's folder already.
func (a *App) CompileUnder(ctx context.Context, lock *build.Lock, o build.Options) (*build.Result, error) {
	project, err := a.Load()
	if err != nil {
		return nil, err
	}
	if _, err := a.Generate(project); err != nil {
		return nil, err
	}
	o.Project, o.Runtime, o.Lock, o.Getenv, o.Log = project, backend.FS, lock, os.Getenv, a.Stderr
	o.Objects = build.ObjectsOf(os.Getenv)
	result, findings, err := build.Run(ctx, o)
	if err != nil {
		return nil, MachineError(err)
	}
	return result, a.Findings(findings)
}

// Changes finds the generated files that differ from those on disk. Mistakes in the definitions are printed.
func (a *App) Changes(p *opdef.Project) (*gen.Changes, error) {
	changes, diags, err := generated.Compare(p)
	if err != nil {
		return nil, err
	}
	return changes, a.Findings(diags)
}

// Generate brings the project's generated files and its runtime up to date and returns how many of the former changed. Whoever
// changed a definition gets the notes about it, also without asking for a check.
func (a *App) Generate(p *opdef.Project) (int, error) {
	changes, err := a.Changes(p)
	if err != nil {
		return 0, err
	}
	err = errors.Join(changes.Apply(), changes.Close())
	if err == nil {
		err = tree.LayRuntime(p.Dir, backend.FS)
	}
	if err == nil && !changes.Empty() {
		err = gen.Notes(p).Print(a.Stderr)
	}
	return len(changes.Write) + len(changes.Remove), err
}
