package conformance

import (
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/rule"
)

// checkNoDevice calls with arrays of the backend's other device. A library without kernels for it says which it has; one
// with such kernels, on a machine without that device, says that it cannot be used. Their memory is never looked at.
func checkNoDevice(t *T) error {
	backend, ok := t.Caller.(interface{ tells() greeting })
	const device = "cuda:0"
	switch {
	case !ok:
		return skip("the caller does not tell what the library has")
	case t.env.device != "cpu" || backend.tells().Driver:
		return skip("the machine has a CUDA device")
	}
	c, err := t.wrongCase()
	if err != nil {
		return err
	}
	call, err := t.call(t.Caller, c)
	if err != nil {
		return err
	}
	call = noKernel(t.Op, t.env.device).apply(call)
	result, err := t.Call(call, device)
	if err != nil {
		return err
	}
	if !slices.Contains(backend.tells().Built, kindOf(device)) {
		t.raised(call, device, result, noKernel(t.Op, t.env.device).want)
		return nil
	}
	want := &rule.Fault{Class: "RuntimeError", Text: t.Op.Name + ": " + device + " cannot be used: "}
	if e := result.Error; e == nil || e.Class != want.Class || !strings.HasPrefix(e.Text, want.Text) {
		t.raised(call, device, result, want)
	}
	return nil
}
