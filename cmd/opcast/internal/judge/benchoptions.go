package judge

import (
	"context"
	"os"
	"slices"
	"strings"

	"github.com/opcast/opcast/cmd/opcast/internal/app"
	"github.com/opcast/opcast/conformance"
	"github.com/opcast/opcast/internal/build/pyenv"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/workload"
)

// benchOptions reads the flags, and brings the library up to date.
func (a commands) benchOptions(ctx context.Context, names []string, flags *benchFlags) (o conformance.BenchOptions, env *pyenv.Env, err error) {
	p, err := a.Load()
	if err != nil {
		return o, nil, err
	}
	ops, err := chosen(p, names, flags.sweeps)
	if err != nil {
		return o, nil, err
	}
	adaptors := p.Manifest.Adaptors
	if flags.adaptorsAreAsked {
		adaptors = flags.adaptors
	}
	for _, name := range adaptors {
		if !slices.Contains(p.Manifest.Adaptors, name) {
			return o, nil, app.Usage("unknown adaptor %q: the adaptors of opcast.toml are %s", name, strings.Join(p.Manifest.Adaptors, ", "))
		}
	}
	o = conformance.BenchOptions{
		Project: p, Ops: ops, Adaptors: adaptors, Wanted: flags.adaptorsAreAsked, Device: flags.device, Threads: flags.threads,
		Suites: flags.suites, Command: strings.ReplaceAll(strings.Join(append([]string{"opcast"}, os.Args[1:]...), " "), p.Dir+"/", ""),
		Rehearse: flags.rehearse, Rounds: flags.rounds, Seconds: flags.seconds, Environ: os.Environ(), Progress: a.Stderr,
	}
	hasWorkloads := slices.ContainsFunc(ops, func(op *opdef.Op) bool { return len(op.Workloads) > 0 })
	if !hasWorkloads && slices.Equal(flags.suites, []string{conformance.BenchWorkloads}) {
		return o, nil, nil // without a build, too, there is nothing to measure
	}
	if env, err = a.suiteEnvironment(ctx, flags.python, p.Dir); err != nil {
		return o, nil, err
	}
	o.Python = env.Python
	return o, env, a.current(ctx, p, env, flags.noBuild, flags.device)
}

// chosen are the ops of the names, or all, with the workloads that sweeps make.
func chosen(p *opdef.Project, names, sweeps []string) ([]*opdef.Op, error) {
	ops := p.Ops
	if len(names) > 0 {
		ops = nil
	}
	for _, name := range names {
		op, err := app.FindOp(p, name)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(ops, op) {
			ops = append(ops, op)
		}
	}
	return swept(ops, sweeps, len(names) > 0)
}

// swept gives the ops workloads with the values of sizes. Ops that lack a size are left out unless they were named.
func swept(ops []*opdef.Op, sweeps []string, named bool) ([]*opdef.Op, error) {
	for _, text := range sweeps {
		sweep, err := workload.ParseSweep(text)
		if err != nil {
			return nil, app.Usage("--sweep %v", err)
		}
		var out []*opdef.Op
		for _, op := range ops {
			one, err := sweep.Of(op)
			if err != nil && (named || len(ops) == 1) {
				return nil, app.Usage("--sweep %s: %v", text, err)
			}
			if err == nil {
				out = append(out, one)
			}
		}
		if ops = out; len(ops) == 0 {
			return nil, app.Usage("--sweep %s: no workload has a size %s", text, sweep.Size)
		}
	}
	return ops, nil
}
