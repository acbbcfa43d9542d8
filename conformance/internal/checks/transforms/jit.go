package transforms

import (
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/transformed"
)

var jitCheck = transformed.Check("jit", transformed.Transforms,
	"a call that is compiled as a whole, forward and backward, gives the same bits, and a second call compiles nothing", check.WithFewerDTypes(checkJit))

// checkJit compiles the op, then the op with its gradient, and calls twice with different contents.
func checkJit(t *check.T) error {
	first := true
	return t.EachRow(func(d cases.DTypes) error {
		plans := append(cases.OptionalPlans(t.Op, d), cases.RankZeroPlans(t.Op, d)...)
		if !first {
			plans = plans[:1]
		}
		for _, p := range plans {
			// Without a gradient one choice of dtypes is enough: the programs differ in nothing else.
			if first {
				if err := check.Proceed(compiledTwice(t, p, false, "aot_eager")); err != nil {
					return err
				}
			}
			if !first || t.Op.Gradient != nil {
				if err := check.Proceed(compiledTwice(t, p, true, "aot_eager")); err != nil {
					return err
				}
			}
		}
		first = false
		return nil
	})
}
