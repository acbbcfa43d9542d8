package values

import (
	"fmt"
	"time"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/oracle"
	"github.com/opcast/opcast/internal/language/ndarray"
)

var manyInputsCheck = check.Check{
	ID: "many-inputs", Group: check.GroupValues, Generated: true,
	Doc:     "300 calls in a row with other contents each give what the reference gives, and the first one gives its bits again; a tenth of them through adaptors, and of slow calls as many as fit in 0.3 s",
	Through: check.ThroughAdaptors, Foreign: check.Judges, Run: checkManyInputs(300, 300*time.Millisecond),
}

var manyInputsMoreCheck = check.Check{
	ID: "many-inputs-more", Group: check.GroupValues, Generated: true, Profile: check.ProfileExtended,
	Doc:     "the same as many-inputs, with 10,000 calls, or as many as fit in 20 s",
	Through: check.ThroughAdaptors, Foreign: check.Judges, Run: checkManyInputs(10000, 20*time.Second),
}

// checkManyInputs looks for results that follow from earlier calls, and for those that are wrong for few contents only.
func checkManyInputs(most int, patience time.Duration) func(t *check.T) error {
	return func(t *check.T) error {
		d, err := t.FirstDTypes()
		if err != nil {
			return err
		}
		number := most
		if !calls.IsBare(t.Caller) && t.Env.Foreign == nil {
			number /= 10 // what kernels do, the bare backend shows
		}
		p := cases.BasePlan(d)
		first, err := t.NewCase(p)
		if err != nil {
			return err
		}
		before, err := t.RunBaseline(t.Caller, first)
		if err != nil {
			return err
		}
		p.Sizes, p.Batch, p.Leads, p.Attrs = first.Sizes, first.Batch, first.Leads, first.Attrs
		begin, failures := time.Now(), len(t.CurrentRow().Failures)
		for i := range number {
			if time.Since(begin) > patience {
				t.CurrentRow().Note = fmt.Sprintf("%d calls were made, the others left out as too slow", i)
				break
			}
			p.Name = fmt.Sprintf("input %d", i)
			c, err := t.NewCase(p)
			if err != nil {
				return err
			}
			if err := expectWidened(t, c); err != nil || len(t.CurrentRow().Failures) > failures {
				return err
			}
		}
		return t.ExpectCaseBits(first, before)
	}
}

// expectWidened compares the results of a call with the reference. Bounds are made for usual contents, and among thousands there are
// some in which rounding weighs more: a result that is beyond its bound gets a wider one, by what the reference loses in float32.
func expectWidened(t *check.T, c *cases.Case) error {
	call, result, err := t.RunCase(t.Caller, c)
	if err != nil || !t.ExpectMetadata(call, c.Name, c, result) || c.Empty() {
		return err
	}
	want, err := t.Env.Oracle.Reference(t.Ctx, c, "float64")
	if err != nil {
		return err
	}
	for i, o := range result.Existing() {
		bound, expected, d := oracle.ToleranceOf(c, i), want[i], c.Numbers(cases.Slots(t.Op)[i].Arg)
		if c.HasFloats() && oracle.Compare("", o.Array, expected, bound) != "" {
			narrow, err := t.Env.Oracle.Reference(t.Ctx, c, "float32")
			if err != nil {
				return err
			}
			if bound = oracle.Widened(bound, d, expected, narrow[i]); ndarray.IsInteger(d) {
				expected = expected.OpenBut(narrow[i])
			}
		}
		t.CompareWithin(call, c, i, o.Array, expected, bound)
	}
	return nil
}
