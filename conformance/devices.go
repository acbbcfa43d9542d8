package conformance

import (
	"strings"

	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/rule"
)

// groupDevices are probes of arrays on other devices than the one under test.
const groupDevices = "devices"

// hasDevices holds where a framework has more than one device of the kind under test.
func hasDevices(_ *opdef.Op, caller Caller) error {
	if len(caller.Probes(groupDevices)) == 0 {
		return unsupported("the framework has one device of this kind here")
	}
	return nil
}

// checkDevices calls with arrays on a device that is not the first one, and with arrays on two.
func checkDevices(t *T) error {
	return t.eachCase(func(d dtypes) []plan { return []plan{base(d)} }, func(c *Case) error {
		plain, err := t.baseline(t.Caller, c)
		if err != nil {
			return err
		}
		return forEach(t.Caller.Probes(groupDevices), func(probe Probe) error {
			return t.promised(c, plain, groupDevices, probe)
		})
	})
}

// checkNoKernel calls an op that has no kernel for the device: the error names the devices that it has kernels for.
func checkNoKernel(t *T) error {
	if len(kernelsOn(t.Op, t.env.device)) > 0 {
		return skip("the op has a kernel for %s", kindOf(t.env.device))
	}
	c, err := t.sampledCase(base(declared(t.Op)[0]))
	if err != nil {
		return err
	}
	call, err := t.call(t.Caller, c)
	if err != nil {
		return err
	}
	result, err := t.direct(t.Caller, call, c.Name)
	if err != nil {
		return err
	}
	want := &rule.Fault{Class: "NotImplementedError", Text: t.Op.Name + ": no kernel for device " + t.env.device + ", available: "}
	if e := result.Error; e == nil || e.Class != want.Class || !strings.HasPrefix(e.Text, want.Text) {
		t.raised(call, c.Name, result, want)
	}
	return nil
}
