package memory

import (
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/rule"
)

var sameObjectCheck = check.Check{
	ID: "same-object", Group: check.GroupAliasing,
	Doc:     "passing one array as two arguments gives what two equal arrays give, and is refused where one of them is overwritten",
	Through: check.ThroughAdaptors, Foreign: check.Judges, Run: check.WithFewerDTypes(checkSameObject),
}

// checkSameObject passes one array for two arguments: that gives what two equal arrays give, or is refused where one of
// the two is overwritten.
func checkSameObject(t *check.T) error {
	found := false
	err := t.EachCase(func(d cases.DTypes) []cases.Plan { return []cases.Plan{cases.BasePlan(d), squarePlan(t.Op, d)} }, func(c *cases.Case) error {
		for i, a := range c.Inputs {
			for j, b := range c.Inputs[:i] {
				if a == nil || b == nil || a.DType != b.DType || rule.List(a.Shape) != rule.List(b.Shape) || !fits(c, i, b) {
					continue
				}
				found = true
				same := c.With(i, b, t.Op.Inputs[i].Name+" equal to "+t.Op.Inputs[j].Name)
				if err := check.Proceed(checkOneArrayTwice(t, same, i, j)); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err == nil && !found {
		return check.Skip("no two arguments have the same dtype and shape")
	}
	return err
}

// fits says whether an input of a case may hold what an array does.
func fits(c *cases.Case, i int, x *ndarray.Array) bool {
	limits, err := cases.LimitsOf(&c.Op.Inputs[i], c)
	if err != nil {
		return false
	}
	at, _ := limits.Outside(x.Dense())
	return at < 0
}

// squarePlan makes all sizes equal, so that arguments of different dims have one shape.
func squarePlan(op *opdef.Op, d cases.DTypes) cases.Plan {
	p := cases.Plan{Name: "square", DTypes: d, Batch: []int64{}, Sizes: map[string]int64{}}
	for _, s := range cases.Symbols(op) {
		p.Sizes[s] = 4
	}
	return p
}

func checkOneArrayTwice(t *check.T, c *cases.Case, i, j int) error {
	want, err := t.RunBaseline(t.Caller, c.With(i, c.Inputs[i].Dense(), "a copy"))
	if err != nil {
		return err
	}
	call, err := t.PlainCall(t.Caller, c)
	if err != nil {
		return err
	}
	call.Inputs[i] = call.Inputs[j]
	got, err := t.Call(call, c.Name)
	if err != nil {
		return err
	}
	if expected := t.ExpectedError(call); expected != nil {
		t.ExpectError(call, c.Name, got, expected)
		return nil
	}
	if got = t.ExpectSuccess(call, c.Name, got); got != nil {
		if err := t.ExpectBitsOrReference(call, c, c.Name, got, want); err != nil {
			return err
		}
		t.ExpectInputsUnchanged(call, c.Name, got)
	}
	return nil
}
