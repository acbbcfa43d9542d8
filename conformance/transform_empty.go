package conformance

import "github.com/opcast/opcast/internal/ndarray"

// checkGradEmpty differentiates calls in which one dimension is zero: the right shapes, zeros where a sum has no terms, and
// no launch where everything is empty.
func checkGradEmpty(t *T) error {
	d, err := t.firstDTypes()
	if err != nil {
		return err
	}
	for _, c := range t.cases(zeroPlans(t.Op, d)) {
		p, err := t.prepare(c, true, "empty")
		if err != nil {
			return err
		}
		r, err := t.transform(c.Name, request("grad", nil, p))
		if err != nil {
			return err
		}
		if t.gave(c.Name, r, 0, p.want()) {
			forward := int64(1) // to save something, should the results be empty
			if c.empty() {
				forward = 0
			}
			t.started(c.Name, r, 0, map[string]int64{t.Op.Name: forward, t.Op.Gradient.Name: launchesOf(p.gradients)})
		}
	}
	return nil
}

// launchesOf is the number of kernels that fill the arrays: none if all are empty.
func launchesOf(list []*ndarray.Array) int64 {
	for _, a := range list {
		if a.Len() > 0 {
			return 1
		}
	}
	return 0
}
