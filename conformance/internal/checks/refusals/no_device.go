package refusals

import (
	"slices"
	"strings"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/invalid"
	"github.com/opcast/opcast/internal/language/rule"
)

var noDeviceCheck = check.Check{
	ID: "no-device", Group: check.GroupErrors, Generated: true,
	Doc:   "arrays on a device that the machine lacks raise one of opcast's documented errors",
	Needs: check.IsBackend, Foreign: check.AboutGenerated, Run: checkNoDevice,
}

// checkNoDevice calls with arrays on a GPU of the kind that the library is built for, else of CUDA. A library without kernels for
// it says which it has; one with such kernels, on a machine without that device, says that it cannot be used. Their memory is never
// looked at.
func checkNoDevice(t *check.T) error {
	backend, ok := t.Caller.(calls.Informed)
	if !ok {
		return check.Skip("the caller does not tell what the library has")
	}
	kind := "cuda"
	if slices.Contains(backend.Info().Built, "rocm") {
		kind = "rocm"
	}
	device := kind + ":0"
	if t.Env.Device != "cpu" || backend.Info().Driver {
		return check.Skip("the machine has a device of the kind %s", kind)
	}
	c, err := t.ValidCase()
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
	call = call.Clone()
	call.MoveTo(device)
	result, err := t.Call(call, device)
	if err != nil {
		return err
	}
	if !slices.Contains(backend.Info().Built, kind) {
		t.ExpectError(call, device, result, invalid.WithoutKernelChange(t.Op, t.Env.Device).Expected)
		return nil
	}
	want := &rule.Error{Class: "RuntimeError", Text: t.Op.Name + ": " + device + " cannot be used: "}
	if e := result.Error; e == nil || e.Class != want.Class || !strings.HasPrefix(e.Text, want.Text) {
		t.ExpectError(call, device, result, want)
	}
	return nil
}
