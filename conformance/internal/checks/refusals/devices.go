package refusals

import (
	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/internal/language/opdef"
)

var devicesCheck = check.Check{
	ID: "devices", Group: check.GroupErrors, Generated: true,
	Doc:   "results lie on the device of the arguments, and arrays on two devices are refused",
	Needs: hasDevices, Foreign: check.AboutGenerated, Run: check.WithFewerDTypes(checkDevices),
}

// GroupDevices are probes of arrays on other devices than the one under test.
const GroupDevices = "devices"

// hasDevices holds where a framework has more than one device of the kind under test.
func hasDevices(_ *opdef.Op, caller calls.Caller) error {
	if len(caller.Probes(GroupDevices)) == 0 {
		return check.Unsupported("the framework has one device of this kind here")
	}
	return nil
}

// checkDevices calls with arrays on a device that is not the first one, and with arrays on two.
func checkDevices(t *check.T) error {
	return t.EachCase(cases.BaseOnly, func(c *cases.Case) error {
		plain, err := t.RunBaseline(t.Caller, c)
		if err != nil {
			return err
		}
		return check.ForEach(t.Caller.Probes(GroupDevices), func(probe calls.Probe) error {
			return t.RunProbe(c, plain, GroupDevices, probe)
		})
	})
}
