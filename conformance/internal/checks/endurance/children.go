package endurance

import (
	"context"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/internal/language/opdef"
)

var forkCheck = check.Check{
	ID: "fork", Group: check.GroupEndurance, Generated: true,
	Doc:   "a child that is forked after import and calls gives the same bits and the same errors",
	Needs: hasChildren, Foreign: check.Judges, Run: checkChild("fork"),
}

var spawnCheck = check.Check{
	ID: "spawn", Group: check.GroupEndurance, Generated: true,
	Doc:   "a child that is spawned gives the same bits and the same errors",
	Needs: hasChildren, Foreign: check.Judges, Ahead: startChild("spawn"), Run: checkChild("spawn"),
}

// GroupEnduranceProbes are probes of many calls and of copies of the library.
const GroupEnduranceProbes = "endure"

// childProcessCaller makes calls in a child of its process.
type childProcessCaller interface {
	// CallInChild makes a call in the child that is started by the method; died says that there is no answer, and why.
	CallInChild(ctx context.Context, method string, call *calls.Call) (result *calls.Result, died string, err error)
	// StartChild starts that child, unless it runs, and does not wait for it.
	StartChild(ctx context.Context, method string) error
}

func hasChildren(_ *opdef.Op, caller calls.Caller) error {
	if _, ok := caller.(childProcessCaller); !ok || caller.Name() == calls.NativeName {
		return check.Unsupported("the caller's process has no children")
	}
	return nil
}

// startChild starts a child that imports everything anew, which takes as long as it took its parent.
func startChild(method string) func(context.Context, *check.Environment, *opdef.Op, calls.Caller) {
	return func(ctx context.Context, _ *check.Environment, _ *opdef.Op, caller calls.Caller) {
		if children, ok := caller.(childProcessCaller); ok {
			_ = children.StartChild(ctx, method) // the first call starts it else, and tells what is wrong
		}
	}
}

// checkChild makes a valid call and a wrong one in a child.
func checkChild(method string) func(*check.T) error {
	return func(t *check.T) error {
		c, err := t.ValidCase()
		if err != nil {
			return err
		}
		call, want, err := t.Uncounted(t.Caller, c) // only what the child does counts
		if err != nil {
			return err
		}
		result, err := inChild(t, method, call, c.Name)
		if err != nil {
			return err
		}
		if t.ExpectSuccess(call, c.Name, result) != nil {
			if err := t.ExpectBitsOrReference(call, c, c.Name+", in a child", result, want); err != nil {
				return err
			}
		}
		wrong, expected, err := t.OneInvalidCall()
		if err != nil || wrong == nil {
			return err
		}
		if result, err = inChild(t, method, wrong, "an invalid call"); err != nil {
			return err
		}
		t.ExpectError(wrong, "an invalid call in a child", result, expected)
		return nil
	}
}

// inChild makes a call in a child.
func inChild(t *check.T, method string, call *calls.Call, name string) (*calls.Result, error) {
	children, _ := t.Caller.(childProcessCaller) // as Needs has seen
	result, died, err := children.CallInChild(t.Ctx, method, call)
	switch {
	case err != nil:
		return nil, err
	case died != "":
		t.Fail(call, name, "%s", died)
		return nil, check.ErrAccounted
	case result.Unsupported != "":
		return nil, t.Inexpressible(result.Unsupported)
	}
	t.CurrentRow().Checked++
	return result, nil
}
