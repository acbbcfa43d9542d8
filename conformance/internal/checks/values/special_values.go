package values

import (
	"math"

	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/oracle"
	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/ndarray"
)

var specialValuesCheck = check.Check{
	ID: "special-values", Group: check.GroupValues, Generated: true, Profile: check.ProfileFast,
	Doc:     "NaN, infinities, -0, denormals and the largest number appear in results where the reference has them",
	Foreign: check.Judges, Run: checkSpecials,
}

// specials are the numbers that kernels get wrong.
func specials(d dtype.DType) []float64 {
	tiny := ndarray.Tiny(d)
	return []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), tiny, -100 * tiny, ndarray.Max(d)}
}

// checkSpecials puts each special number into one element of each float input in turn.
func checkSpecials(t *check.T) error {
	return t.EachCase(cases.BaseOnly, func(c *cases.Case) error {
		for i, in := range c.Inputs {
			if in == nil || !ndarray.IsFloat(in.DType) || in.Len() == 0 || t.Op.Inputs[i].Min != nil {
				continue
			}
			for _, v := range specials(in.DType) {
				changed := in.Dense()
				ndarray.PutFloat(in.DType, changed.Data, in.Len()/2, v)
				spoilt := c.With(i, changed, t.Op.Inputs[i].Name+" has "+oracle.FormatFloat(v))
				if err := check.Proceed(expectExtremeValues(t, spoilt)); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
