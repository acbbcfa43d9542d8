package values

import (
	"slices"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/opdef"
)

var defaultsCheck = check.Check{
	ID: "defaults", Group: check.GroupValues, Generated: true,
	Doc: "a default given explicitly changes no bit, nor does an int for a float",
	Needs: check.When(func(op *opdef.Op) bool {
		return slices.ContainsFunc(op.Attrs, func(a opdef.Attr) bool { return a.HasDefault && a.DefaultExpr == nil || a.Type == "float" })
	}, "no attr has a constant default"), Foreign: check.Judges, Run: check.WithFewerDTypes(CheckDefaults),
}

// CheckDefaults passes each default explicitly, and whole numbers for float attrs as int: the bits must not change.
func CheckDefaults(t *check.T) error {
	return t.EachCase(cases.BaseOnly, func(c *cases.Case) error {
		plain, err := t.RunBaseline(t.Caller, c)
		if err != nil {
			return err
		}
		for i := range t.Op.Attrs {
			a := &t.Op.Attrs[i]
			if err := check.Proceed(explicitly(t, c, a, plain)); err != nil {
				return err
			}
			if err := check.Proceed(integerFor(t, c, a)); err != nil {
				return err
			}
		}
		return nil
	})
}

// explicitly gives an attr its default. One that switches a result on is left out for that first: cases have such results.
func explicitly(t *check.T, c *cases.Case, a *opdef.Attr, plain *calls.Result) error {
	if t.Op.Switches(a) && a.HasDefault {
		p := cases.BasePlan(c.DTypes)
		p.Attrs = map[string]any{a.Name: a.Default}
		other, err := t.NewCase(p)
		if err != nil {
			return nil // the definition's conditions, or those of the kernel, exclude it
		}
		c = other.LeftOut(a.Name)
		if plain, err = t.RunBaseline(t.Caller, c); err != nil {
			return err
		}
	}
	v := explicitDefault(c, a)
	if v == nil {
		return nil
	}
	return t.ExpectCaseBits(c.WithAttr(a.Name, v), plain)
}

// explicitDefault is the default of an attr that a case leaves out; nil if it has no constant one.
func explicitDefault(c *cases.Case, a *opdef.Attr) any {
	if _, given := c.Attrs[a.Name]; given || a.DefaultExpr != nil {
		return nil
	}
	if _, isText := a.Default.(string); isText && a.Type == "dtype" {
		return cases.DType(dtype.LongName(c.DefaultDType(a)))
	}
	return a.Default
}

// integerFor gives a float attr 1 as a float and as an integer.
func integerFor(t *check.T, c *cases.Case, a *opdef.Attr) error {
	low, hasLow := cases.ToFloat(a.Min)
	high, hasHigh := cases.ToFloat(a.Max)
	if a.Type != "float" || hasLow && low > 1 || hasHigh && high < 1 {
		return nil
	}
	p := cases.BasePlan(c.DTypes)
	p.Attrs = map[string]any{a.Name: 1.0} // which may choose other dims
	whole, err := t.NewCase(p)
	if err != nil {
		return nil // the definition's conditions, or those of the kernel, exclude it
	}
	want, err := t.RunBaseline(t.Caller, whole)
	if err != nil {
		return err
	}
	return t.ExpectCaseBits(whole.WithAttr(a.Name, int64(1)), want)
}
