package refusals

import (
	"strings"

	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/internal/language/rule"
)

var noKernelCheck = check.Check{
	ID: "no-kernel", Group: check.GroupErrors, WithoutKernel: true,
	Doc:     "without a kernel for the device, NotImplementedError names the devices that have one",
	Foreign: check.AboutGenerated, Run: checkNoKernel,
}

// checkNoKernel calls an op that has no kernel for the device: the error names the devices that it has kernels for.
func checkNoKernel(t *check.T) error {
	if len(cases.KernelsOn(t.Op, t.Env.Device)) > 0 {
		return check.Skip("the op has a kernel for %s", cases.KindOf(t.Env.Device))
	}
	c, err := t.SampledCase(cases.BasePlan(cases.DeclaredDTypes(t.Op)[0]))
	if err != nil {
		return err
	}
	if c.Empty() {
		return check.Skip("a call writes nothing, on whatever device")
	}
	call, err := t.PlainCall(t.Caller, c)
	if err != nil {
		return err
	}
	result, err := t.CallAsIs(t.Caller, call, c.Name)
	if err != nil {
		return err
	}
	want := &rule.Error{Class: "NotImplementedError", Text: t.Op.Name + ": no kernel for device " + t.Env.Device + ", available: "}
	if e := result.Error; e == nil || e.Class != want.Class || !strings.HasPrefix(e.Text, want.Text) {
		t.ExpectError(call, c.Name, result, want)
	}
	return nil
}
