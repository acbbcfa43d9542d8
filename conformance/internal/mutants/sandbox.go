package mutants

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/mutate"
	"github.com/opcast/opcast/conformance/internal/run"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/load"
	"github.com/opcast/opcast/internal/system/tempdir"
)

// Sandbox is a copy of the project into which mutants are planted, and the processes that try it.
type Sandbox struct {
	*Runner
	// dir is the copy, which temp removes.
	dir     string
	temp    *tempdir.Folder
	Project *opdef.Project
	pool    *run.Pool
	runner  *run.Runner
	// emulated says that calls are made on the emulated device.
	emulated bool
	// finalCaller says that no other caller will look at what the present one does not notice.
	finalCaller bool
	// clean says that no process has seen a mutant that may spoil memory.
	clean bool
	// killers are the checks that noticed mutants, by ID; passesUnmutated says, by op, caller and check, which of them hold
	// without one.
	killers         map[string]attempt
	passesUnmutated map[[3]string]bool
	// lastDuration is what a check took last, by caller and check; originals are the files that were edited, as they were.
	lastDuration map[[2]string]time.Duration
	originals    map[string]string
}

// newSandbox copies the project.
func (m *Runner) newSandbox() (*Sandbox, error) {
	b := &Sandbox{
		Runner: m, finalCaller: true, killers: map[string]attempt{}, passesUnmutated: map[[3]string]bool{},
		lastDuration: map[[2]string]time.Duration{}, originals: map[string]string{},
	}
	var err error
	if b.temp, err = tempdir.Make("", "opcast-mutants"); err != nil {
		return b, fmt.Errorf("folder for mutants: %w", err)
	}
	b.dir = b.temp.Path
	if err := CopyProject(m.options.Project.Dir, b.dir); err != nil {
		return b, err
	}
	project, findings, err := load.Load(b.dir)
	if err != nil || len(findings) > 0 {
		return b, errors.Join(fmt.Errorf("load the copy of the project: %v", findings), err)
	}
	b.Project = project
	return b, nil
}

// source says where mutants are planted.
func (b *Sandbox) source() mutate.Source {
	manifest := &b.Project.Manifest
	return mutate.Source{Dir: b.dir, Name: manifest.Name, Ops: b.ops, Adaptors: manifest.Adaptors, Switch: b.switchFile()}
}

func (b *Sandbox) switchFile() string { return filepath.Join(b.dir, "mutant") }

// activate switches a mutant on, or all of them off.
func (b *Sandbox) activate(number int) error {
	f, err := os.OpenFile(b.switchFile(), os.O_WRONLY|os.O_CREATE, 0o644) // not truncated: processes have it mapped
	if err != nil {
		return fmt.Errorf("switch mutants: %w", err)
	}
	_, err = f.WriteAt([]byte{byte(number), byte(number >> 8), byte(number >> 16), 0}, 0)
	return errors.Join(err, f.Close())
}

// open starts callers on the copy, after those of before have ended.
func (b *Sandbox) open(ctx context.Context, callers ...string) error {
	if b.pool != nil {
		_ = b.pool.Close()
	}
	o := run.Options{
		Subject: run.Subject{Project: b.Project},
		Effort:  run.Effort{Python: b.options.Python, Native: b.options.Native, Seed: b.options.Seed},
		Scope:   run.Scope{Ops: b.options.Ops},
	}
	if b.emulated {
		o.Device, o.Driver = "cuda", b.options.Driver(b.dir)
	}
	b.pool = run.NewPool(o)
	var err error
	if b.runner, err = b.pool.Open(ctx, callers); err != nil {
		return fmt.Errorf("start %v on the mutants: %w", callers, err)
	}
	return nil
}

// installed are the adaptors whose framework is there.
func (b *Sandbox) installed(ctx context.Context, adaptors []string) ([]string, error) {
	if err := b.open(ctx, append([]string{calls.BackendName}, adaptors...)...); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(adaptors), func(name string) bool { return b.runner.Env.Caller(name) == nil }), nil
}

// restartProcesses ends the processes that saw a mutant; the next call starts others, whose memory is sound.
func (b *Sandbox) restartProcesses() {
	for _, r := range b.pool.Callers {
		if r.Worker != nil {
			_ = r.Worker.Close() // processes with mutants may end as they like
		}
	}
	b.clean = true
}

// op is an op of the copy.
func (b *Sandbox) op(name string) *opdef.Op {
	i := slices.IndexFunc(b.Project.Ops, func(op *opdef.Op) bool { return op.Name == name })
	return cases.Tested(b.Project.Ops[i])
}

func (b *Sandbox) close(ctx context.Context) {
	if b.pool != nil {
		if ctx.Err() != nil {
			b.pool.Kill()
		}
		_ = b.pool.Close() // processes with mutants may end as they like
	}
	if b.temp != nil {
		_ = b.temp.Remove() // else the next run does
	}
}
