package refusals

import (
	"slices"
	"strings"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/invalid"
	"github.com/opcast/opcast/internal/language/opdef"
)

var precedenceCheck = check.Check{
	ID: "precedence", Group: check.GroupErrors, Generated: true,
	Doc:     "of two errors in one call, the one that the documented order puts first is raised",
	Foreign: check.Foreign{Library: "the words of its errors are its author's", Functions: "the words of its errors are its author's"},
	Run:     checkPrecedence,
}

// checkPrecedence makes two changes in one call. The error that the documented order puts first must be raised, with the text
// that it has alone.
func checkPrecedence(t *check.T) error {
	call, changes, err := t.InvalidCalls(t.Caller)
	if err != nil {
		return err
	}
	if t.Caller.Name() == calls.OpCallName {
		// What only NumPy knows of its arrays is found out while they are converted, before the library sees any.
		readOnly := func(x *calls.Tensor) bool { return x.ReadOnly }
		changes = slices.DeleteFunc(changes, func(f invalid.Change) bool { return slices.ContainsFunc(f.Apply(call).Tensors(), readOnly) })
	}
	pairs := changePairs(t.Op, changes)
	if len(pairs) == 0 {
		return check.Skip("no call of the op can have two independent errors")
	}
	return check.ForEach(pairs, func(pair [2]invalid.Change) error {
		both := pair[0].Apply(pair[1].Apply(call))
		name := pair[0].Arg + " " + pair[0].Kind + " and " + pair[1].Arg + " " + pair[1].Kind
		result, err := t.Call(both, name)
		if err != nil {
			return err
		}
		t.ExpectError(both, name, result, pair[0].Expected)
		return nil
	})
}

// changePairs combines changes of different arguments and phases, each pair of kinds once, the earlier phase first.
func changePairs(op *opdef.Op, changes []invalid.Change) [][2]invalid.Change {
	seen := map[string]bool{}
	var out [][2]invalid.Change
	for i, a := range changes {
		// A size that disagrees with another argument is reported there: such a change has no phase of its own.
		if a.Alone || !strings.HasPrefix(a.Expected.Text, op.Name+": "+a.Arg+": ") && a.Phase != invalid.PhaseMissing {
			continue
		}
		for _, b := range changes[i+1:] {
			kinds := a.Kind + "/" + b.Kind
			if b.Alone || a.Phase >= b.Phase || a.Arg == b.Arg || seen[kinds] {
				continue
			}
			seen[kinds] = true
			out = append(out, [2]invalid.Change{a, b})
		}
	}
	return out
}
