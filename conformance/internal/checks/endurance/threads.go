package endurance

import (
	"context"
	"fmt"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/rule"
)

var threadsCheck = check.Check{
	ID: "threads", Group: check.GroupEndurance, Generated: true,
	Doc:   "calls of several threads at once, right and wrong ones, give what they give one after the other",
	Needs: hasThreads, Foreign: check.Judges, Run: checkThreads,
}

// concurrentCaller makes several calls at once.
type concurrentCaller interface {
	// CallConcurrently makes each call `repeat` times in a thread of its own, and returns the different results of each.
	CallConcurrently(ctx context.Context, list []*calls.Call, repeat int) ([][]*calls.Result, error)
}

func hasThreads(_ *opdef.Op, caller calls.Caller) error {
	if _, ok := caller.(concurrentCaller); !ok {
		return check.Unsupported("the caller has one thread")
	}
	return nil
}

// threadCalls is how often each thread makes its call.
const threadCalls = 25

// checkThreads makes calls one after the other, then all of them at once: with contents of their own, one in two threads, and
// a wrong one. Nobody may get what belongs to another.
func checkThreads(t *check.T) error {
	made, err := threadCases(t)
	if err != nil {
		return err
	}
	var (
		list []*calls.Call
		want []*calls.Result
	)
	for _, c := range made {
		call, result, err := t.RunCase(t.Caller, c)
		if err != nil {
			return err
		}
		list, want = append(list, call), append(want, result)
	}
	wrong, expected, err := t.OneInvalidCall()
	if err != nil {
		return err
	}
	if wrong != nil {
		list = append(list, wrong)
	}
	team, _ := t.Caller.(concurrentCaller) // as Needs has seen
	got, err := team.CallConcurrently(t.Ctx, list, threadCalls)
	if err != nil {
		return err
	}
	return expectThreadsAlone(t, list, made, want, expected, got)
}

// expectThreadsAlone compares what each thread got with what its call gives alone; the call behind those of the cases
// is wrong.
func expectThreadsAlone(
	t *check.T, sent []*calls.Call, made []*cases.Case, want []*calls.Result, expected *rule.Error, got [][]*calls.Result,
) error {
	const name = "with other threads"
	for i, list := range got {
		if len(list) == 0 {
			t.Fail(sent[i], name, "thread %d gave no answer", i)
		}
		for _, result := range list {
			if i == len(made) {
				t.ExpectError(sent[i], name, result, expected)
			} else if t.ExpectSuccess(sent[i], name, result) != nil {
				if err := t.ExpectBitsOrReference(sent[i], made[i], name, result, want[i]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// threadCases are cases of different contents, one of them long, and the first once more.
func threadCases(t *check.T) ([]*cases.Case, error) {
	c, err := t.ValidCase()
	if err != nil {
		return nil, err
	}
	var list []*cases.Case
	for i := range 3 {
		p := cases.BasePlan(c.DTypes)
		p.Name = fmt.Sprint("thread ", i)
		if i == 2 && t.Op.HasBatch() {
			p.Batch = []int64{67} // long enough for several threads of the library
		}
		one, err := t.SampledCase(p)
		if err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return append(list, list[0]), nil
}
