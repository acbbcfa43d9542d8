package values

import (
	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/internal/language/opdef"
)

var savedCheck = check.Check{
	ID: "saved", Group: check.GroupValues,
	Doc:   "computing the saved outputs, too, changes no other result",
	Needs: hasSaved, Foreign: check.Foreign{Judged: true, Functions: check.AboutGenerated.Functions},
	Run: check.WithFewerDTypes(checkSaved),
}

// checkSaved asks for the results with and without those that only a gradient needs: the bits are the same.
func checkSaved(t *check.T) error {
	return t.EachCase(func(d cases.DTypes) []cases.Plan { return cases.ValuePlans(t.Op, d) }, func(c *cases.Case) error {
		want, err := t.RunBaseline(t.Caller, c)
		if err != nil {
			return err
		}
		call := calls.New(c)
		if call.Out, err = calls.PoisonedOutputs(c, false); err != nil {
			return err
		}
		if err := call.AddScratch(t.Caller, c); err != nil {
			return err
		}
		got, err := t.Call(call, c.Name)
		if err != nil {
			return err
		}
		if got = t.ExpectSuccess(call, c.Name+", nothing saved", got); got == nil {
			return nil
		}
		t.ExpectSameBits(call, c.Name+", nothing saved", got, want)
		t.ExpectOutputGuards(call, c.Name, got)
		return nil
	})
}

// hasSaved holds where a caller may choose whether to ask for saved outputs.
func hasSaved(op *opdef.Op, caller calls.Caller) error {
	if len(op.Saved()) == 0 {
		return check.Skip("the op saves nothing for its gradient")
	}
	return check.SkipUnless(calls.IsBare(caller), "a public call does not return what is saved")
}
