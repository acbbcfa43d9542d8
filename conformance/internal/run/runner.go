package run

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/known"
	"github.com/opcast/opcast/conformance/internal/worker"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/results/report"
)

// Runner runs checks.
type Runner struct {
	Env *check.Environment
	// profile is the largest one whose checks run.
	profile string
	known   map[string][]known.Failure
	// ended are the ops whose calls hung or ended processes too often, see deaths.go.
	ended deaths
	// spread says with which ops some checks are tried; nil for with all.
	spread *spread
}

// specDeadline bounds one check of one op through one adaptor. Its calls have deadlines of their own.
const specDeadline = 5 * time.Minute

// run runs one check of a cell.
func (r *Runner) run(ctx context.Context, op *opdef.Op, caller calls.Caller, c *check.Check) []report.Result {
	t := &check.T{Ctx: ctx, Env: r.Env, Op: op, Caller: caller, Check: c.ID, Started: time.Now()}
	results := r.results(t, c)
	r.ended.note(op, caller, c, t)
	known.Apply(r.known[caller.Name()], c, results)
	return results
}

// RunOnce runs one check, whatever came of others, and tells the text of its worst result, and whether that is a failure.
func (r *Runner) RunOnce(ctx context.Context, op *opdef.Op, caller calls.Caller, c *check.Check) (text string, failed bool) {
	worst := worstOf(r.results(&check.T{Ctx: ctx, Env: r.Env, Op: op, Caller: caller}, c))
	return worst.Reason, worst.Status.Bad()
}

// results are those of a check; a panic is an error of the suite.
func (r *Runner) results(t *check.T, c *check.Check) (results []report.Result) {
	ctx, cancel := context.WithTimeout(t.Ctx, specDeadline)
	defer cancel()
	t.Ctx = ctx
	defer func() {
		if broken := recover(); broken != nil {
			results = t.Results(c, fmt.Errorf("panic: %v\n%s", broken, debug.Stack()))
		}
	}()
	err := r.applies(t.Op, t.Caller, c)
	if err == nil {
		err = c.Run(t)
	}
	return t.Results(c, err)
}

// applies returns nil, or why a check has nothing to do: the caller is missing, the op has no kernel for its device, or the
// check says so itself.
func (r *Runner) applies(op *opdef.Op, caller calls.Caller, c *check.Check) error {
	process, _ := caller.(*worker.Process)
	if process != nil && process.Missing != "" {
		return check.Skip("%s", process.Missing)
	}
	if err := reasonToSkip(r.Env.Foreign, c); err != nil {
		return err
	}
	if reason := r.ended.reason(op, caller); reason != "" {
		return check.Skip("%s", reason)
	}
	if process != nil && process.Broken() != nil {
		return check.Skip("%s", report.FirstLine(process.Broken().Error()))
	}
	if c.Profile == check.ProfileExtended && r.profile != check.ProfileExtended {
		return check.Skip("belongs to the extended profile")
	}
	if caller.Name() != calls.DefinitionName && len(cases.KernelsOn(op, r.Env.Device)) == 0 && !c.WithoutKernel {
		return check.Skip("the op has no kernel for %s", cases.KindOf(r.Env.Device))
	}
	if c.HostOnly != "" && r.Env.Device != "cpu" {
		return check.Unsupported("%s", c.HostOnly)
	}
	if c.Needs != nil {
		if err := c.Needs(op, caller); err != nil {
			return err
		}
	}
	return r.spread.skip(op, caller, c)
}

// worstOf is the result with the worst status.
func worstOf(results []report.Result) report.Result {
	var worst report.Result
	for _, r := range results {
		if report.Worse(worst.Status, r.Status) != worst.Status {
			worst = r
		}
	}
	return worst
}

// open starts what a plan needs. Checks begin what they will wait for beside those that come first: those of definitions
// while the callers start. What cannot begin here says so when its check runs.
func (p *Pool) open(ctx context.Context, of *Plan) (*Runner, error) {
	env, err := p.prepare(ctx)
	if err != nil {
		return nil, err
	}
	begin := func(definitions bool) {
		p.beside.Go(func() {
			for c, one := range specs(of.Cells) {
				if (c.Caller == calls.DefinitionName) == definitions && one.Ahead != nil && ctx.Err() == nil {
					p.ahead(ctx, env, c, one)
				}
			}
		})
	}
	begin(true)
	if err := p.start(ctx, env, of); err != nil {
		return nil, err
	}
	begin(false)
	env.ReproducerDir, err = reproducerFolder(p.options, of.job)
	r := &Runner{Env: env, profile: p.options.Profile, known: of.known}
	if p.options.Spread {
		r.spread = newSpread(of.ops)
	}
	return r, err
}

// ahead begins a check that is going to run.
func (p *Pool) ahead(ctx context.Context, env *check.Environment, c *Cell, one *check.Check) {
	caller := p.caller(c.Caller)
	process, _ := caller.(*worker.Process)
	if (process == nil || process.Missing == "") && reasonToSkip(env.Foreign, one) == nil && (one.Needs == nil || one.Needs(c.Op, caller) == nil) {
		one.Ahead(ctx, env, c.Op, caller)
	}
}
