package mutants

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/mutate"
	"github.com/opcast/opcast/conformance/internal/run"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/results/report"
)

// runSwitched judges mutants in the library.
func (b *Sandbox) runSwitched(ctx context.Context, list []*mutate.Mutant) error {
	callers := []string{calls.BackendName, calls.NativeName, calls.OpCallName}
	if err := b.open(ctx, callers...); err != nil {
		return err
	}
	for _, x := range list {
		if err := b.activate(x.Number); err != nil {
			return err
		}
		verdict, err := b.judge(ctx, x, []*opdef.Op{b.op(x.Op)}, callers)
		if err != nil {
			return err
		}
		b.record(x, verdict)
		if b.clean = false; x.Operator.Dirty {
			b.restartProcesses()
		}
	}
	if err := b.activate(0); err != nil {
		return err
	}
	b.restartProcesses()
	return b.confirmKills(ctx)
}

// judge runs checks until one fails: those that should notice, of every op that the mutant may show in, and then the rest,
// the cheap ones first, as long as the mutant's time lasts.
func (b *Sandbox) judge(ctx context.Context, x *mutate.Mutant, ops []*opdef.Op, callers []string) (report.Mutant, error) {
	began := time.Now()
	trials, budget := b.attempts(x, ops, callers), b.options.budget()
	if b.equivalentEntry(x) != nil || x.EquivalentReason() != "" {
		budget *= listedBudget
	}
	for i, t := range trials {
		if !t.likely && (!b.finalCaller || time.Since(began) > budget) {
			reason := fmt.Sprintf("%d of %d checks ran in %v", i, len(trials), budget)
			return report.Mutant{Verdict: report.Survived, Reason: reason, Seconds: time.Since(began).Seconds()}, nil
		}
		text, failed, err := b.attempt(ctx, x, t)
		if err != nil {
			return report.Mutant{}, err
		}
		if failed {
			seconds := time.Since(began).Seconds()
			return report.Mutant{Verdict: report.Killed, By: t.check.ID, Adaptor: t.caller.Name(), Reason: text, Seconds: seconds}, nil
		}
	}
	reason := fmt.Sprintf("no check of %d failed", len(trials))
	return report.Mutant{Verdict: report.Survived, Reason: reason, Seconds: time.Since(began).Seconds()}, nil
}

// listedBudget is how much more time a mutant has that is listed as equivalent: that is to be refuted.
const listedBudget = 3

// attempt is one check that may notice a mutant.
type attempt struct {
	op     *opdef.Op
	caller calls.Caller
	check  *check.Check
	likely bool
}

// key names a trial.
func (t attempt) key() [3]string { return [3]string{t.op.Name, t.caller.Name(), t.check.ID} }

// attempts are the checks that a mutant is held against, in their order.
func (b *Sandbox) attempts(x *mutate.Mutant, ops []*opdef.Op, callers []string) []attempt {
	var out []attempt
	for _, name := range callers {
		caller := b.runner.Env.Caller(name)
		if caller == nil {
			continue
		}
		list := run.ChecksOf(name, false)
		for _, op := range ops {
			for i := range list {
				out = append(out, attempt{op, caller, &list[i], slices.Contains(x.Operator.Expect, list[i].ID)})
			}
		}
	}
	place := func(t attempt) int {
		if t.likely {
			return slices.Index(x.Operator.Expect, t.check.ID)
		}
		return len(x.Operator.Expect)
	}
	cost := func(t attempt) time.Duration { return b.lastDuration[[2]string{t.caller.Name(), t.check.ID}] }
	slices.SortStableFunc(out, func(s, t attempt) int {
		if order := place(s) - place(t); order != 0 || s.likely {
			return order
		}
		return cmp.Compare(cost(s), cost(t))
	})
	return out
}

// attempt runs one check and reports whether it fails because of the mutant.
func (b *Sandbox) attempt(ctx context.Context, x *mutate.Mutant, t attempt) (text string, failed bool, err error) {
	began := time.Now()
	text, failed = b.runner.RunOnce(ctx, t.op, t.caller, t.check)
	if err := ctx.Err(); err != nil {
		return "", false, err
	}
	if failed && (!t.likely || inconclusive(text)) {
		// What is not meant to notice has to do so twice, and so has a failure that the machine or an earlier mutant
		// may have caused.
		b.restartProcesses()
		if text, failed = b.runner.RunOnce(ctx, t.op, t.caller, t.check); ctx.Err() != nil {
			return "", false, ctx.Err()
		}
	}
	if !failed {
		b.lastDuration[[2]string{t.caller.Name(), t.check.ID}] = time.Since(began)
		return "", false, nil
	}
	b.killers[x.ID] = t
	return text, true, nil
}

// inconclusive reports whether a failure may come from something else than a result: a process that ended or was late, or an
// error of the suite.
func inconclusive(text string) bool {
	for _, words := range []string{"the process died", "worker stopped", "no answer within", "panic: ", "deadline exceeded"} {
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
}

// confirmKills runs, without any mutant, every check that noticed one since the last time. A check that fails then,
// too, noticed nothing.
func (b *Sandbox) confirmKills(ctx context.Context) error {
	for _, id := range slices.Sorted(maps.Keys(b.killers)) {
		t := b.killers[id]
		if _, known := b.passesUnmutated[t.key()]; known {
			continue
		}
		text, failed := b.runner.RunOnce(ctx, t.op, t.caller, t.check)
		if err := ctx.Err(); err != nil {
			return err
		}
		if b.passesUnmutated[t.key()] = !failed; failed {
			b.logf("note: %s of %s through %s fails without a mutant: %s", t.check.ID, t.op.Name, t.caller.Name(), report.FirstLine(text))
		}
	}
	b.mu.Lock()
	for id, t := range b.killers {
		i := slices.IndexFunc(b.verdicts, func(v report.Mutant) bool { return v.ID == id })
		if v := &b.verdicts[i]; !b.passesUnmutated[t.key()] {
			v.Verdict, v.Reason = report.Survived, "only "+v.By+" failed, which fails without the mutant, too"
		}
	}
	b.mu.Unlock()
	clear(b.killers)
	return nil
}

// record keeps a verdict and shows those that are no good.
func (m *Runner) record(x *mutate.Mutant, v report.Mutant) {
	v.ID, v.Op, v.Kind, v.Expected = x.ID, x.Op, x.Operator.Kind, x.Operator.Expect
	v.Where, v.Change = fmt.Sprintf("%s:%d", x.File, x.Line), x.Change()
	if v.Adaptor == "" {
		v.Adaptor = x.Layer()
	}
	v.Reason = report.FirstLine(v.Reason)
	m.mu.Lock()
	m.ApplyEquivalent(x, &v)
	m.verdicts = append(m.verdicts, v)
	m.mu.Unlock()
	switch {
	case v.Verdict == report.Survived:
		m.logf("SURVIVED %s, %s: %s (%.1f s)", v.ID, v.Where, v.Change, v.Seconds)
	case m.options.Verbose:
		m.logf("  %-11s %s by %s through %s (%.1f s): %s", v.Verdict, v.ID, v.By, v.Adaptor, v.Seconds, v.Reason)
	}
}
