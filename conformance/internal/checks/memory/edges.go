package memory

import (
	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/internal/language/opdef"
)

var edgesCheck = check.Check{
	ID: "edges", Group: check.GroupAliasing,
	Doc:      "nothing is read before the first element of an input or past its last one",
	HostOnly: "memory of a device has no page that its kernels must not touch",
	Needs:    needsFences, Foreign: check.Judges, Run: check.WithEachKernel(checkEdges),
}

// needsFences holds for the bare backend, which passes arrays on where they lie.
func needsFences(op *opdef.Op, caller calls.Caller) error {
	if err := check.IsBackend(op, caller); err != nil {
		return err
	}
	return check.HasWatchProbe(check.GroupWatch, "edge", nil)(op, caller)
}

// checkEdges moves inputs next to a page of memory that nobody may touch: a call that reads too far ends its process. Inputs that
// are overwritten stay where they are, since they have guards around them.
func checkEdges(t *check.T) error {
	return t.EachCase(func(d cases.DTypes) []cases.Plan { return cases.ValuePlans(t.Op, d) }, func(c *cases.Case) error {
		moved := []int64{}
		for i, x := range c.Inputs {
			if x != nil && x.Len() > 0 && !t.Op.Inputs[i].Mutated {
				moved = append(moved, int64(i))
			}
		}
		return check.ForEach([]bool{false, true}, func(before bool) error { return callAtEdge(t, c, moved, before) })
	})
}

// callAtEdge makes a call with inputs at the end, or at the beginning, of what may be read.
func callAtEdge(t *check.T, c *cases.Case, moved []int64, before bool) error {
	call, err := t.PlainCall(t.Caller, c)
	if err != nil {
		return err
	}
	name := c.Name + ", inputs that end where memory ends"
	if before {
		name = c.Name + ", inputs that begin where memory begins"
	}
	call.Kernel = t.ForcedKernel()
	result, err := t.CallWatched("edge", call, name, map[string]any{"moved": moved, "before": before})
	if err != nil {
		return err
	}
	if result = t.ExpectSuccess(call, name, result); result == nil {
		return nil
	}
	return t.ExpectReference(call, c, result)
}
