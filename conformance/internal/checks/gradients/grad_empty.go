package gradients

import (
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/transformed"
	"github.com/opcast/opcast/internal/language/ndarray"
)

var gradEmptyCheck = transformed.Check("grad-empty", transformed.Differentiates,
	"gradients of calls with an empty dimension have the right shapes, zeros where nothing is summed, and no launch for nothing", checkGradEmpty)

// checkGradEmpty differentiates calls in which one dimension is zero: the right shapes, zeros where a sum has no terms, and
// no launch where everything is empty.
func checkGradEmpty(t *check.T) error {
	d, err := t.FirstDTypes()
	if err != nil {
		return err
	}
	for _, c := range t.CasesOf(cases.ZeroPlans(t.Op, d)) {
		p, r, err := transformed.Ask(t, c, "empty", "grad", nil)
		if err != nil {
			return err
		}
		if transformed.Expect(t, c.Name, r.In("", 0), p.Expected()) {
			forward := int64(1) // to save something, should the results be empty
			if c.Empty() {
				forward = 0
			}
			transformed.ExpectLaunches(t, c.Name, r.In("", 0), map[string]int64{t.Op.Name: forward, t.Op.Gradient.Name: launchesOf(p)})
		}
	}
	return nil
}

// launchesOf is the number of kernels that compute the gradients: none if all are empty, before sums along broadcast dims.
func launchesOf(p *transformed.PreparedCall) int64 {
	given := cases.GivenInputs(p.C)
	for _, place := range p.Wrt {
		shape, err := p.C.Shape(p.C.Op.Inputs[given[place]].Type)
		if err == nil && ndarray.Count(shape) > 0 {
			return 1
		}
	}
	return 0
}
