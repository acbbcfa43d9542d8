package refusals

import (
	"slices"
	"strings"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/invalid"
)

var opCallCheck = check.Check{
	ID: "op-call", Group: check.GroupErrors,
	Doc:   "unknown kinds and attrs, and wrong numbers of arrays, are refused with the op's error",
	Needs: check.ByNumber, Foreign: check.AboutGenerated, Run: checkOpCall,
}

// GroupRefusals is the group of calls that only such a caller can get wrong. Each raises an error of ours.
const GroupRefusals = "refusals"

// checkOpCall makes the calls that are wrong only by number and name.
func checkOpCall(t *check.T) error {
	c, err := t.ValidCase()
	if err != nil {
		return err
	}
	for _, probe := range t.Caller.Probes(GroupRefusals) {
		name := probe.Name
		call, err := t.PlainCall(t.Caller, c)
		if err != nil {
			return err
		}
		call.Probe = GroupRefusals + "." + name
		result, err := t.Call(call, name)
		if err == nil && !refusedByNumber(t, result.Error) {
			t.Fail(call, name, "want an error of ours, got %v", result.Error)
		}
		if err := check.Proceed(err); err != nil {
			return err
		}
		if err := check.Proceed(t.ExpectCaseValues(c)); err != nil {
			return err
		}
	}
	return nil
}

// refusedByNumber reports whether an error is in the words of the op, or of the function that did not find it.
func refusedByNumber(t *check.T, e *calls.CallError) bool {
	if e == nil || !slices.Contains(append([]string{"KeyError"}, invalid.ErrorClasses...), e.Class) {
		return false
	}
	text := strings.Trim(e.Text, `"'`) // Python quotes the text of a KeyError
	return strings.HasPrefix(text, t.Op.Name+": ") || strings.HasPrefix(text, calls.OpCallName+": ") || strings.Contains(text, "no op ")
}
