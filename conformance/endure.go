package conformance

import (
	"context"
	"fmt"
	"slices"

	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/rule"
)

// groupEndure are probes of many calls and of copies of the library.
const groupEndure = "endure"

// hasProbe holds where the caller's worker has a probe.
func hasProbe(group, probe string) func(*opdef.Op, Caller) error {
	return func(_ *opdef.Op, caller Caller) error {
		if !offersProbe(caller, group, probe) {
			return unsupported("the caller cannot be watched from inside")
		}
		return nil
	}
}

func isCopied(op *opdef.Op, caller Caller) error {
	if err := isBackend(op, caller); err != nil {
		return err
	}
	return hasProbe(groupEndure, "copies")(op, caller)
}

// teamCaller makes several calls at once.
type teamCaller interface {
	// Together makes each call `repeat` times in a thread of its own, and returns the different results of each.
	Together(ctx context.Context, calls []*Call, repeat int) ([][]*Result, error)
}

func hasThreads(_ *opdef.Op, caller Caller) error {
	if _, ok := caller.(teamCaller); !ok {
		return unsupported("the caller has one thread")
	}
	return nil
}

// threadCalls is how often each thread makes its call.
const threadCalls = 25

// checkThreads makes calls one after the other, then all of them at once: with contents of their own, one in two threads, and
// a wrong one. Nobody may get what belongs to another.
func checkThreads(t *T) error {
	cases, err := t.threadCases()
	if err != nil {
		return err
	}
	var (
		calls []*Call
		want  []*Result
	)
	for _, c := range cases {
		call, result, err := t.right(t.Caller, c)
		if err != nil {
			return err
		}
		calls, want = append(calls, call), append(want, result)
	}
	wrong, fault, err := t.oneFault()
	if err != nil {
		return err
	}
	if wrong != nil {
		calls = append(calls, wrong)
	}
	team, _ := t.Caller.(teamCaller) // as Needs has seen
	got, err := team.Together(t.ctx, calls, threadCalls)
	if err != nil {
		return err
	}
	return t.judgeThreads(calls, cases, want, fault, got)
}

// judgeThreads compares what each thread got with what its call gives alone; the call behind those of the cases is wrong.
func (t *T) judgeThreads(calls []*Call, cases []*Case, want []*Result, fault *rule.Fault, got [][]*Result) error {
	const name = "with other threads"
	for i, list := range got {
		if len(list) == 0 {
			t.Fail(calls[i], name, "thread %d gave no answer", i)
		}
		for _, result := range list {
			if i == len(cases) {
				t.raised(calls[i], name, result, fault)
			} else if t.succeeded(calls[i], name, result) != nil {
				if err := t.agrees(calls[i], cases[i], name, result, want[i]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// threadCases are cases of different contents, one of them long, and the first once more.
func (t *T) threadCases() ([]*Case, error) {
	c, err := t.wrongCase()
	if err != nil {
		return nil, err
	}
	var cases []*Case
	for i := range 3 {
		p := base(c.DTypes)
		p.name = fmt.Sprint("thread ", i)
		if i == 2 && t.Op.HasBatch() {
			p.batch = []int64{67} // long enough for several threads of the library
		}
		one, err := t.sampledCase(p)
		if err != nil {
			return nil, err
		}
		cases = append(cases, one)
	}
	return append(cases, cases[0]), nil
}

// oneFault is a wrong call, if possible with a wrong shape, and the error that it has to raise; nil where there is none. What
// someone else's function takes for right, which another check says, is no wrong call of it.
func (t *T) oneFault() (*Call, *rule.Fault, error) {
	call, faults, err := t.faults(t.Caller)
	if err != nil {
		return nil, nil, err
	}
	for _, wanted := range []func(fault) bool{
		func(f fault) bool { return f.sort() == phaseInput+phaseOfDims },
		func(f fault) bool { return f.want.Class == "ValueError" },
		func(f fault) bool { return true },
	} {
		i := slices.IndexFunc(faults, func(f fault) bool { return !f.whole && wanted(f) })
		if i < 0 {
			continue
		}
		wrong := faults[i].apply(call)
		if t.env.foreign == nil {
			return wrong, faults[i].want, nil
		}
		result, err := t.direct(t.Caller, wrong, "a wrong call")
		if err := proceed(err); err != nil {
			return nil, nil, err
		}
		if result != nil && result.Error != nil {
			return wrong, faults[i].want, nil
		}
	}
	return nil, nil, nil
}

// childCaller makes calls in a child of its process.
type childCaller interface {
	// Child makes a call in the child that is started by the method; died says that there is no answer, and why.
	Child(ctx context.Context, method string, call *Call) (result *Result, died string, err error)
}

func hasChildren(_ *opdef.Op, caller Caller) error {
	if _, ok := caller.(childCaller); !ok || caller.Name() == nativeName {
		return unsupported("the caller's process has no children")
	}
	return nil
}

// checkChild makes a right call and a wrong one in a child.
func checkChild(method string) func(*T) error {
	return func(t *T) error {
		c, err := t.wrongCase()
		if err != nil {
			return err
		}
		call, want, err := t.uncounted(t.Caller, c) // only what the child does counts
		if err != nil {
			return err
		}
		result, err := t.inChild(method, call, c.Name)
		if err != nil {
			return err
		}
		if t.succeeded(call, c.Name, result) != nil {
			if err := t.agrees(call, c, c.Name+", in a child", result, want); err != nil {
				return err
			}
		}
		wrong, fault, err := t.oneFault()
		if err != nil || wrong == nil {
			return err
		}
		if result, err = t.inChild(method, wrong, "a wrong call"); err != nil {
			return err
		}
		t.raised(wrong, "a wrong call in a child", result, fault)
		return nil
	}
}

// inChild makes a call in a child.
func (t *T) inChild(method string, call *Call, name string) (*Result, error) {
	children, _ := t.Caller.(childCaller) // as Needs has seen
	result, died, err := children.Child(t.ctx, method, call)
	switch {
	case err != nil:
		return nil, err
	case died != "":
		t.Fail(call, name, "%s", died)
		return nil, errAccounted
	case result.Unsupported != "":
		t.row().unsupported = result.Unsupported
		return nil, errAccounted
	}
	t.row().done++
	return result, nil
}

// checkCopies makes the call through a copy of the library.
func checkCopies(t *T) error {
	return t.eachCase(func(d dtypes) []plan { return []plan{base(d)} }, func(c *Case) error {
		call, err := t.call(t.Caller, c)
		if err != nil {
			return err
		}
		call.Probe, call.Options = groupEndure+".copies", map[string]any{"first": int64(len(t.Op.Outputs))}
		result, err := t.direct(t.Caller, call, c.Name)
		if err != nil || t.succeeded(call, c.Name, result) == nil {
			return err
		}
		return t.matches(call, c, result)
	})
}
