package run

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/native"
	"github.com/opcast/opcast/conformance/internal/worker"
	"github.com/opcast/opcast/internal/system/rpc"
)

// startNative starts the process that calls from Go.
func (p *Pool) startNative(ctx context.Context, caller *worker.Process) error {
	backend, o := p.process(calls.BackendName), p.options
	switch {
	case len(o.Native) == 0:
		caller.Missing = "this program cannot start itself to call from Go"
		return nil
	case backend.Missing != "":
		caller.Missing = backend.Missing // such as a library that cannot be loaded
		return nil
	}
	reached := filepath.Join(p.folder.Path, "reached")
	var err error
	if caller.ProgressPage, err = native.SharedPage(reached); err != nil {
		return err
	}
	config, err := json.Marshal(native.Config{
		TVM: backend.TVM, Library: library(o, p.foreign), Foreign: p.foreign != nil, Dir: o.Project.Dir, Reached: reached, Device: o.device(),
	})
	if err != nil {
		return fmt.Errorf("native caller: %w", err)
	}
	caller.Worker = p.add(rpc.Config{
		Command: slices.Concat(o.Under, o.Native, []string{string(config)}), Dir: p.folder.Path, Env: append(p.environ(), zeroInvalid(o.Project)+"=1"),
		StartDeadline: worker.StartDeadline, Memory: rpc.Allowance(),
	})
	return caller.Start(ctx)
}

// connect lists who can call, and prepares the process that has several frameworks.
func (p *Pool) connect(env *check.Environment) error {
	var frameworks []string
	for _, r := range p.Callers {
		if r.Missing != "" {
			if slices.Contains(p.options.Adaptors, r.CallerName) || r.CallerName == calls.BackendName || p.foreign.Callables() {
				return fmt.Errorf("%s %w: %s", r.CallerName, ErrMissing, r.Missing)
			}
			p.say("note: %s: %s", r.CallerName, r.Missing)
			continue
		}
		env.Callers = append(env.Callers, r)
		if err := lacks(p.options, p.foreign, r); err != nil {
			return err
		}
		if !calls.IsBare(r) {
			frameworks = append(frameworks, r.CallerName)
		}
	}
	if len(frameworks) < 2 || p.foreign != nil {
		return nil
	}
	config := p.config("chain", "")
	config.Adaptors = frameworks
	chain, err := p.worker(config)
	env.Chain = &worker.ChainProcess{Worker: chain, Adaptors: frameworks} // starts with its first call
	return err
}

// lacks is an error if the library that a worker found has no kernels for the device under test, or if that is not emulated where it
// should be: whatever would be tested then, it is not what was asked for.
func lacks(o Options, f *check.ForeignCode, r *worker.Process) error {
	kind := cases.KindOf(o.device())
	if kind == "cpu" || r.CallerName != calls.BackendName || f != nil {
		return nil
	}
	if built := r.Info().Built; !slices.Contains(built, kind) {
		return fmt.Errorf("%s %w: the library has kernels for %s only\n  run: opcast build --device %[1]s", kind, ErrMissing, strings.Join(built, " and "))
	}
	if o.Driver != "" && !strings.HasPrefix(r.Hardware, "emulated ") {
		return fmt.Errorf("the emulated device %w: there is no driver in %s", ErrMissing, o.Driver)
	}
	return nil
}
