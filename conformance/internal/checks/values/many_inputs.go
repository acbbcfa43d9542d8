package values

import (
	"fmt"
	"time"

	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
)

var manyInputsCheck = check.Check{
	ID: "many-inputs", Group: check.GroupValues, Generated: true,
	Doc:     "300 calls in a row with other contents each give what the reference gives, and the first one gives its bits again; of slow calls as many as fit in 0.3 s",
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
		for i := range most {
			if time.Since(begin) > patience {
				t.CurrentRow().Note = fmt.Sprintf("%d calls were made, the others left out as too slow", i)
				break
			}
			p.Name = fmt.Sprintf("input %d", i)
			c, err := t.NewCase(p)
			if err != nil {
				return err
			}
			if err := t.ExpectCaseValues(c); err != nil || len(t.CurrentRow().Failures) > failures {
				return err
			}
		}
		return t.ExpectCaseBits(first, before)
	}
}
