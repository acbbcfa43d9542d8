package refusals

import (
	"fmt"
	"slices"
	"strings"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/rule"
)

var listsCheck = check.Check{
	ID: "list-errors", Group: check.GroupErrors,
	Doc:     "empty lists, lists of unequal lengths and arrays in the place of lists raise the documented errors",
	Needs:   check.When(func(op *opdef.Op) bool { return op.InstanceOf != nil }, "the op has no list of arrays"),
	Foreign: check.AboutGenerated,
	Run:     checkLists,
}

func checkLists(t *check.T) error {
	c, err := t.ValidCase()
	if err != nil {
		return err
	}
	whole := t.Op.Whole()
	for _, list := range whole.Lists() {
		refused := func(keep int, class, format string, args ...any) error {
			return expectListRefused(t, c, list, keep, &rule.Error{Class: class, Text: fmt.Sprintf("%s: %s: expected ", whole.Name, list) + fmt.Sprintf(format, args...)})
		}
		if err := refused(0, "ValueError", "at least 1 array, got 0"); err != nil {
			return err
		}
		if first := whole.Partner(list); first != list {
			if err := refused(1, "ValueError", "%d arrays (as %s), got 1", cases.TestedLength, first); err != nil {
				return err
			}
		}
		if calls.IsBare(t.Caller) {
			continue // in which lists are their arrays one by one
		}
		if err := refused(calls.Single, "TypeError", "a list of %s, got ", t.Caller.ArrayWord()); err != nil {
			return err
		}
	}
	return nil
}

// expectListRefused calls with so many arrays of a list, or one array in its place, and expects an error that begins so.
func expectListRefused(t *check.T, c *cases.Case, list string, keep int, want *rule.Error) error {
	call, err := t.PlainCall(t.Caller, c)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("%d arrays of %s", keep, list)
	if keep == calls.Single {
		name = "an array as " + list
	}
	result, err := t.Call(withArrays(call, list, keep), name)
	if err != nil {
		return err
	}
	if e := result.Error; e == nil || e.Class != want.Class || !strings.HasPrefix(e.Text, want.Text) {
		t.Fail(call, name, "got %s, want %s: %s", e, want.Class, want.Text)
	}
	return nil
}

// withArrays is a call with so many arrays of a list, or its first array in its place.
func withArrays(call *calls.Call, list string, keep int) *calls.Call {
	out, op := call.Clone(), *call.Op
	out.Op, out.Inputs, op.Inputs = &op, nil, nil
	for i, in := range call.Op.Inputs {
		if in.In != list || in.At < max(keep, 0) || keep == calls.Single && in.At == 0 {
			op.Inputs, out.Inputs = append(op.Inputs, in), append(out.Inputs, call.Inputs[i])
		}
	}
	out.Lists = calls.ListsOf(call.Op)
	at := slices.IndexFunc(out.Lists.Inputs, func(g calls.Group) bool { return g[0] == list })
	out.Lists.Inputs[at][1] = keep
	out.Lists.Lengths[slices.Index(call.Op.Whole().Lists(), list)] = int64(keep)
	return out
}
