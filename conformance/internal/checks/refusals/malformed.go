package refusals

import (
	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/internal/language/opdef"
)

var malformedCheck = check.Check{
	ID: "malformed", Group: check.GroupErrors, Generated: true,
	Doc:   "calls that break the calling convention raise an error; the process does not crash",
	Needs: hasMalformed, Foreign: check.Judges, Run: checkMalformed,
}

// checkMalformed makes calls that no one should write. Whatever they raise, the process stays alive and still computes.
func checkMalformed(t *check.T) error {
	c, err := t.ValidCase()
	if err != nil {
		return err
	}
	for _, probe := range t.Caller.Probes(check.GroupMalformed) {
		call, err := t.PlainCall(t.Caller, c)
		if err != nil {
			return err
		}
		call.Probe, call.Options = check.GroupMalformed+"."+probe.Name, map[string]any{"checked strides": checksStrides(c)}
		if _, err := t.Call(call, probe.Name); check.Proceed(err) != nil {
			return err
		}
		if err := check.Proceed(t.ExpectCaseValues(c)); err != nil {
			return err
		}
	}
	return nil
}

// checksStrides reports whether the backend refuses strides that leave the memory, for every input: it knows no memory, but
// most kernels take dense arrays, or arrays whose last dimension is dense.
func checksStrides(c *cases.Case) bool {
	for i, in := range c.Inputs {
		if in == nil || in.Len() < 2 {
			continue
		}
		stride := c.Op.Inputs[i].Stride
		if stride == "any" || stride == "last" && in.Shape[in.Rank()-1] == 1 {
			return false
		}
	}
	return true
}

func hasMalformed(_ *opdef.Op, caller calls.Caller) error {
	if len(caller.Probes(check.GroupMalformed)) == 0 {
		return check.Unsupported("the framework has no probe about this")
	}
	return nil
}
