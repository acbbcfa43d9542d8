package agreement

import (
	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
)

var mixedCheck = check.Check{
	ID: "mixed", Group: check.GroupAcross, Generated: true,
	Doc:   "arrays of several frameworks in one call give the bits of the bare backend",
	Needs: check.ByNumber, Foreign: check.ComparedWithBackend, Run: check.WithFewerDTypes(checkMixed),
}

// GroupMixed is the group of probes with arguments from other frameworks. They give the result of the plain call.
const GroupMixed = "mixed"

// checkMixed passes every other input as an array of another framework.
func checkMixed(t *check.T) error {
	return t.EachCase(cases.BaseOnly, func(c *cases.Case) error {
		backend := t.Env.Caller(calls.BackendName)
		if backend == nil {
			return check.Skip("the backend cannot be called")
		}
		want, err := t.RunBaseline(backend, c)
		if err != nil {
			return err
		}
		return check.ForEach(t.Caller.Probes(GroupMixed), func(probe calls.Probe) error {
			call, err := t.PlainCall(t.Caller, c)
			if err != nil {
				return err
			}
			call.Probe = GroupMixed + "." + probe.Name
			return t.ExpectCallBits(call, probe.Name+", "+c.Name, want)
		})
	})
}
