package cases

import (
	"fmt"

	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
)

// Flops is how many operations the call needs, by the formula of the definition, which must have one.
func (c *Case) Flops() (int64, error) {
	n, err := c.Op.Flops.Eval(withBatch{c})
	if err != nil {
		return 0, fmt.Errorf("flops of %s: %w", c.Op.Name, err)
	}
	return n, nil
}

// withBatch knows, beside the names of a case, that of the product of its leading dims.
type withBatch struct{ *Case }

// Int is a size, a let, the value of an attribute, or that product.
func (w withBatch) Int(name string) (int64, bool) {
	if name == opdef.Batch && w.Op.HasBatch() {
		return ndarray.Count(w.Batch), true
	}
	return w.Case.Int(name)
}
