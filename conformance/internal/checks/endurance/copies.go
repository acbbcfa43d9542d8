package endurance

import (
	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/internal/language/opdef"
)

var copiesCheck = check.Check{
	ID: "copies", Group: check.GroupEndurance, Generated: true,
	Doc:   "two copies of the library in one process give the same bits and do not disturb each other",
	Needs: isCopied, Foreign: check.AboutGenerated, Run: checkCopies,
}

func isCopied(op *opdef.Op, caller calls.Caller) error {
	if err := check.IsBackend(op, caller); err != nil {
		return err
	}
	return check.HasWatchProbe(GroupEnduranceProbes, "copies", nil)(op, caller)
}

// checkCopies makes the call through a copy of the library.
func checkCopies(t *check.T) error {
	return t.EachCase(cases.BaseOnly, func(c *cases.Case) error {
		call, err := t.PlainCall(t.Caller, c)
		if err != nil {
			return err
		}
		call.Probe, call.Options = GroupEnduranceProbes+".copies", map[string]any{"first": int64(len(t.Op.Outputs))}
		result, err := t.CallAsIs(t.Caller, call, c.Name)
		if err != nil || t.ExpectSuccess(call, c.Name, result) == nil {
			return err
		}
		return t.ExpectReference(call, c, result)
	})
}
