package conformance

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/opcast/opcast/internal/mutate"
	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/report"
)

// runSwitched judges mutants in the library.
func (b *bed) runSwitched(ctx context.Context, list []*mutate.Mutant) error {
	callers := []string{backendName, nativeName, opCallName}
	if err := b.open(ctx, callers...); err != nil {
		return err
	}
	for _, x := range list {
		if x.Operator.Unsupported != "" {
			b.record(x, report.Mutant{Verdict: report.NotRun, Reason: x.Operator.Unsupported})
			continue
		}
		if err := b.set(x.Number); err != nil {
			return err
		}
		verdict, err := b.judge(ctx, x, []*opdef.Op{b.op(x.Op)}, callers)
		if err != nil {
			return err
		}
		b.record(x, verdict)
		if b.fresh = false; x.Operator.Dirty {
			b.refresh()
		}
	}
	if err := b.set(0); err != nil {
		return err
	}
	b.refresh()
	return b.confirm(ctx)
}

// judge runs checks until one fails: those that should notice, of every op that the mutant may show in, and then the rest,
// the cheap ones first, as long as the mutant's time lasts.
func (b *bed) judge(ctx context.Context, x *mutate.Mutant, ops []*opdef.Op, callers []string) (report.Mutant, error) {
	began := time.Now()
	trials, budget := b.trials(x, ops, callers), b.options.budget()
	if b.listed(x) != nil || x.SameReason() != "" {
		budget *= listedBudget
	}
	for i, t := range trials {
		if !t.expected && (!b.last || time.Since(began) > budget) {
			reason := fmt.Sprintf("%d of %d checks ran in %v", i, len(trials), budget)
			return report.Mutant{Verdict: report.Survived, Reason: reason, Seconds: time.Since(began).Seconds()}, nil
		}
		text, failed, err := b.try(ctx, x, t)
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

// trial is one check that may notice a mutant.
type trial struct {
	op       *opdef.Op
	caller   Caller
	check    *Check
	expected bool
}

// key names a trial.
func (t trial) key() [3]string { return [3]string{t.op.Name, t.caller.Name(), t.check.ID} }

// trials are the checks that a mutant is held against, in their order.
func (b *bed) trials(x *mutate.Mutant, ops []*opdef.Op, callers []string) []trial {
	var out []trial
	for _, name := range callers {
		caller := b.s.env.caller(name)
		if caller == nil {
			continue
		}
		list := checksOf(caller, false)
		for _, op := range ops {
			for i := range list {
				out = append(out, trial{op, caller, &list[i], slices.Contains(x.Operator.Expect, list[i].ID)})
			}
		}
	}
	place := func(t trial) int {
		if t.expected {
			return slices.Index(x.Operator.Expect, t.check.ID)
		}
		return len(x.Operator.Expect)
	}
	cost := func(t trial) time.Duration { return b.cost[[2]string{t.caller.Name(), t.check.ID}] }
	slices.SortStableFunc(out, func(s, t trial) int {
		if order := place(s) - place(t); order != 0 || s.expected {
			return order
		}
		return cmp.Compare(cost(s), cost(t))
	})
	return out
}

// try runs one check and reports whether it fails because of the mutant.
func (b *bed) try(ctx context.Context, x *mutate.Mutant, t trial) (text string, failed bool, err error) {
	began := time.Now()
	text, failed = b.s.probe(ctx, t.op, t.caller, t.check)
	if err := ctx.Err(); err != nil {
		return "", false, err
	}
	if failed && (!t.expected || doubtful(text)) {
		// What is not meant to notice has to do so twice, and so has what may be the fault of the machine, or of a mutant before.
		b.refresh()
		if text, failed = b.s.probe(ctx, t.op, t.caller, t.check); ctx.Err() != nil {
			return "", false, ctx.Err()
		}
	}
	if !failed {
		b.cost[[2]string{t.caller.Name(), t.check.ID}] = time.Since(began)
		return "", false, nil
	}
	b.claims[x.ID] = t
	return text, true, nil
}

// doubtful reports whether a failure may come from something else than a result: a process that ended or was late, or an
// error of the suite.
func doubtful(text string) bool {
	for _, words := range []string{"the process died", "worker stopped", "no answer within", "panic: ", "deadline exceeded"} {
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
}

// confirm runs, without any mutant, every check that noticed one since the last time. A check that fails then, too, noticed
// nothing.
func (b *bed) confirm(ctx context.Context) error {
	for _, id := range slices.Sorted(maps.Keys(b.claims)) {
		t := b.claims[id]
		if _, known := b.sound[t.key()]; known {
			continue
		}
		text, failed := b.s.probe(ctx, t.op, t.caller, t.check)
		if err := ctx.Err(); err != nil {
			return err
		}
		if b.sound[t.key()] = !failed; failed {
			b.say("note: %s of %s through %s fails without a mutant: %s", t.check.ID, t.op.Name, t.caller.Name(), report.FirstLine(text))
		}
	}
	b.mu.Lock()
	for id, t := range b.claims {
		i := slices.IndexFunc(b.verdicts, func(v report.Mutant) bool { return v.ID == id })
		if v := &b.verdicts[i]; !b.sound[t.key()] {
			v.Verdict, v.Reason = report.Survived, "only "+v.By+" failed, which fails without the mutant, too"
		}
	}
	b.mu.Unlock()
	clear(b.claims)
	return nil
}

// probe runs one check and tells the text of its worst result, and whether that is a failure.
func (s *session) probe(ctx context.Context, op *opdef.Op, caller Caller, check *Check) (text string, failed bool) {
	ctx, cancel := context.WithTimeout(ctx, specDeadline)
	defer cancel()
	t := &T{ctx: ctx, env: &s.env, Op: op, Caller: caller}
	defer func() {
		if broken := recover(); broken != nil {
			text, failed = fmt.Sprintf("panic: %v\n%s", broken, debug.Stack()), true
		}
	}()
	err := s.applies(op, caller, "", check)
	if err == nil {
		err = check.Run(t)
	}
	worst := worstOf(t.results(check, err))
	return worst.Reason, worst.Status == report.Fail || worst.Status == report.Error
}

// record keeps a verdict and shows those that are no good.
func (m *mutation) record(x *mutate.Mutant, v report.Mutant) {
	v.ID, v.Op, v.Kind, v.Expected = x.ID, x.Op, x.Operator.Kind, x.Operator.Expect
	v.Where, v.Change = fmt.Sprintf("%s:%d", x.File, x.Line), x.Change()
	if v.Adaptor == "" {
		v.Adaptor = x.Layer()
	}
	v.Reason = report.FirstLine(v.Reason)
	m.mu.Lock()
	m.applyEquivalent(x, &v)
	m.verdicts = append(m.verdicts, v)
	m.mu.Unlock()
	switch {
	case v.Verdict == report.Survived:
		m.say("SURVIVED %s, %s: %s (%.1f s)", v.ID, v.Where, v.Change, v.Seconds)
	case m.options.Verbose:
		m.say("  %-11s %s by %s through %s (%.1f s): %s", v.Verdict, v.ID, v.By, v.Adaptor, v.Seconds, v.Reason)
	}
}
