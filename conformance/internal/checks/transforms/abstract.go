package transforms

import (
	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/transformed"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/rule"
)

var abstractCheck = transformed.Check("abstract", transformed.Transforms,
	"without data, shapes, dtypes, strides and devices are those of real results", checkAbstract)

// checkAbstract asks for results without data.
func checkAbstract(t *check.T) error {
	return t.EachOptionalPlan(func(c *cases.Case) error {
		if calls.HasFeature(t.Caller, calls.FeatureShapesOnly) {
			return evalShape(t, c)
		}
		return check.ForEach(cases.LaidOutCases(c, "transposed"), func(c *cases.Case) error { return expectFakeMetadata(t, c) })
	})
}

// evalShape compares what jax.eval_shape says with real results and gradients.
func evalShape(t *check.T, c *cases.Case) error {
	p, r, err := transformed.Ask(t, c, "shape", "eval_shape", nil)
	if err != nil {
		return err
	}
	for way, want := range map[string][]*ndarray.Array{"results": p.Results, "gradients": p.Gradients} {
		if len(want) == 0 {
			continue
		}
		got, ok := transformed.Arrays(t, c.Name+", "+way, r.In(way, 0), len(want))
		for i := 0; ok && i < len(got); i++ {
			if a, b := got[i].DType.Long+rule.List(got[i].Shape), want[i].DType.Long+rule.List(want[i].Shape); a != b || !got[i].Abstract {
				t.Fail(nil, c.Name, "array %d: got %s, want %s without data", i, a, b)
			}
		}
	}
	return nil
}
