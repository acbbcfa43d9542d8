package conformance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/opcast/opcast/internal/mutate"
	"github.com/opcast/opcast/internal/opdef"
)

// bed is a copy of the project into which mutants are planted, and the processes that try it.
type bed struct {
	*mutation
	dir     string
	project *opdef.Project
	s       *session
	// last says that no other caller will look at what the present one does not notice.
	last bool
	// fresh says that no process has seen a fault that may spoil memory.
	fresh bool
	// claims are the checks that noticed mutants, by ID; sound says, by op, caller and check, which of them hold without one.
	claims map[string]trial
	sound  map[[3]string]bool
	// cost is what a check took last, by caller and check; texts are the files that were edited, as they were.
	cost  map[[2]string]time.Duration
	texts map[string]string
}

// newBed copies the project.
func (m *mutation) newBed() (*bed, error) {
	b := &bed{
		mutation: m, last: true, claims: map[string]trial{}, sound: map[[3]string]bool{},
		cost: map[[2]string]time.Duration{}, texts: map[string]string{},
	}
	var err error
	if b.dir, err = os.MkdirTemp("", "opcast-mutants-"); err != nil {
		return b, fmt.Errorf("folder for mutants: %w", err)
	}
	if err := copyProject(m.options.Project.Dir, b.dir); err != nil {
		return b, err
	}
	project, findings, err := opdef.Load(b.dir)
	if err != nil || len(findings) > 0 {
		return b, errors.Join(fmt.Errorf("load the copy of the project: %v", findings), err)
	}
	b.project = project
	return b, nil
}

// source says where mutants are planted.
func (b *bed) source() mutate.Source {
	manifest := &b.project.Manifest
	return mutate.Source{Dir: b.dir, Name: manifest.Name, Ops: b.ops, Adaptors: manifest.Adaptors, Switch: b.switchFile()}
}

func (b *bed) switchFile() string { return filepath.Join(b.dir, "mutant") }

// set switches a mutant on, or all of them off.
func (b *bed) set(number int) error {
	f, err := os.OpenFile(b.switchFile(), os.O_WRONLY|os.O_CREATE, 0o644) // not truncated: processes have it mapped
	if err != nil {
		return fmt.Errorf("switch mutants: %w", err)
	}
	_, err = f.WriteAt([]byte{byte(number), byte(number >> 8), byte(number >> 16), 0}, 0)
	return errors.Join(err, f.Close())
}

// open starts callers on the copy, after those of before have ended.
func (b *bed) open(ctx context.Context, callers ...string) error {
	if b.s != nil {
		_ = b.s.close()
	}
	o := Options{
		Project: b.project, Python: b.options.Python, Native: b.options.Native, Ops: b.options.Ops, Seed: b.options.Seed, Out: io.Discard,
	}
	b.s = &session{options: o, ops: b.project.Ops, printer: &printer{out: io.Discard}}
	if err := b.s.open(ctx, callers); err != nil {
		return fmt.Errorf("start %v on the mutants: %w", callers, err)
	}
	return nil
}

// present are the adaptors whose framework is there.
func (b *bed) present(ctx context.Context, adaptors []string) ([]string, error) {
	if err := b.open(ctx, append([]string{backendName}, adaptors...)...); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(adaptors), func(name string) bool { return b.s.env.caller(name) == nil }), nil
}

// refresh ends the processes that saw a fault: the next call starts others, whose memory is sound.
func (b *bed) refresh() {
	for _, r := range b.s.remotes {
		if r.worker != nil {
			_ = r.worker.Close() // processes with planted faults may end as they like
		}
	}
	b.fresh = true
}

// op is an op of the copy.
func (b *bed) op(name string) *opdef.Op {
	i := slices.IndexFunc(b.project.Ops, func(op *opdef.Op) bool { return op.Name == name })
	return b.project.Ops[i]
}

func (b *bed) close() {
	if b.s != nil {
		_ = b.s.close() // processes with planted faults may end as they like
	}
	if b.dir != "" {
		_ = os.RemoveAll(b.dir) // what stays is in the system's folder for such things
	}
}
