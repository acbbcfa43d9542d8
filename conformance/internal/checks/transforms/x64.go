package transforms

import (
	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/invalid"
	"github.com/opcast/opcast/conformance/internal/transformed"
	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/rule"
)

var x64Check = transformed.Check("x64", transformed.Offers("x64 mode", transformed.Transforms),
	"with JAX's 64-bit types enabled the bits are the same", check.WithFewerDTypes(checkWide))

// expectFloat64Refused expects the error of the call with arrays of float64, which JAX has only while 64-bit types are on.
func expectFloat64Refused(t *check.T, c *cases.Case, r *calls.Transformed) error {
	call := calls.New(c)
	for i, in := range c.Inputs {
		if in != nil {
			call.Inputs[i] = &calls.Tensor{Array: ndarray.New(dtype.Must("f64"), in.Shape)}
		}
	}
	want := invalid.ExpectedError(rule.Compile(t.Op), call, t.Caller, t.Env.Device)
	if want == nil {
		return nil // the op takes them
	}
	if made := r.In("float64", 0); made == nil {
		t.Fail(nil, c.Name+" as float64", "made no such call")
	} else if e := made.Error; e == nil || e.Class != want.Class || e.Text != want.Text {
		t.Fail(nil, c.Name+" as float64", "raised %+v, want %s: %s", e, want.Class, want.Text)
	}
	return nil
}

// checkWide calls eagerly and compiled while 64-bit types are on, then with arrays of such types.
func checkWide(t *check.T) error {
	return t.EachCase(cases.BaseOnly, func(c *cases.Case) error {
		p, r, err := transformed.Ask(t, c, "x64", "x64", nil)
		if err != nil {
			return err
		}
		for _, way := range []string{"eager", "compiled"} {
			transformed.Expect(t, c.Name+", "+way, r.In(way, 0), p.Expected())
		}
		return expectFloat64Refused(t, c, r)
	})
}
