package memory

import (
	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/internal/language/opdef"
)

// checkMemory runs the probes of memory that are about something.
func checkMemory(about string) func(t *check.T) error {
	return func(t *check.T) error {
		return t.EachCase(cases.BaseOnly, func(c *cases.Case) error {
			plain, err := t.RunBaseline(t.Caller, c)
			if err != nil {
				return err
			}
			return check.ForEach(check.ProbesFor(t.Caller, check.GroupMemory, about), func(probe calls.Probe) error {
				if probe.Out && (t.Env.Foreign.Callables() || t.Op.InstanceOf != nil) {
					return nil // a function of someone else need not have out=, one with lists has none
				}
				return t.RunProbe(c, plain, check.GroupMemory, probe)
			})
		})
	}
}

// hasMemoryProbe holds where the framework has probes of memory about something.
func hasMemoryProbe(what string) func(*opdef.Op, calls.Caller) error {
	return func(_ *opdef.Op, caller calls.Caller) error {
		if len(check.ProbesFor(caller, check.GroupMemory, what)) == 0 {
			return check.Unsupported("the framework has no probe about this")
		}
		return nil
	}
}

func hasMutated(op *opdef.Op, _ calls.Caller) error {
	return check.SkipUnless(cases.OverwritesInputs(op), "the op overwrites no input")
}
