package cases

import (
	"errors"
	"fmt"
	"slices"

	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/expr"
)

// PlanOfShape is a plan with which an argument of a type may have a shape; false if it cannot. What is computed from several
// sizes is left to the search, so the shape of the argument is to be compared.
func PlanOfShape(op *opdef.Op, d DTypes, t opdef.Type, shape []int64) (Plan, bool) {
	p := BasePlan(d)
	p.Sizes = map[string]int64{}
	dims := slices.DeleteFunc(slices.Clone(t.Dims), opdef.Dim.Leading)
	rest := len(shape) - len(dims)
	if rest < 0 || rest > 0 && t.Lead() == "" {
		return Plan{}, false
	}
	if t.Lead() != "" {
		p.Batch, p.Leads = slices.Clone(shape[:rest]), map[string][]int64{}
		for _, name := range broadcastInputs(op, nil) {
			p.Leads[name] = p.Batch
		}
	}
	sizes := Symbols(op)
	for i, dim := range dims {
		for _, name := range sizes {
			if !dim.Is(name) {
				continue
			}
			if n, known := p.Sizes[name]; known && n != shape[rest+i] {
				return Plan{}, false
			}
			p.Sizes[name] = shape[rest+i]
		}
	}
	return p, true
}

// InRange reports whether an array holds only what the definition allows an input to hold.
func (c *Case) InRange(in *opdef.Arg, a *ndarray.Array) bool {
	limits, err := LimitsOf(in, c)
	limits.Sorted = false
	at, _ := limits.Outside(a)
	return err == nil && at < 0
}

// LimitsOf are what the definition says about the elements of an input, for the sizes and attributes of a call.
func LimitsOf(in *opdef.Arg, env expr.Env) (ndarray.Contents, error) {
	limits := ndarray.Contents{Sorted: in.Sorted}
	var err, err2 error
	if in.Min != nil {
		limits.Min, err = in.Min.EvalExact(env)
	}
	if in.Max != nil {
		limits.Max, err2 = in.Max.EvalExact(env)
	}
	if err := errors.Join(err, err2); err != nil {
		return ndarray.Contents{}, fmt.Errorf("range of %s: %w", in.Name, err)
	}
	return limits, nil
}
