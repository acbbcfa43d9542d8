package values

import (
	"slices"
	"time"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/oracle"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
)

var hardFloatsCheck = check.Check{
	ID: "hard-floats", Group: check.GroupValues, Generated: true, Profile: check.ProfileFast,
	Doc:   "long sums, differences that cancel, and products that leave the range of float32 on the way give what the reference gives",
	Needs: hasFreeFloats,
	Foreign: check.Foreign{
		Judged:    true,
		Functions: "about inputs that are chosen against float32, in which functions of frameworks compute",
	},
	Run: check.WithKernelsOnly(checkHardFloats),
}

// hasFreeFloats holds where some input may hold any numbers of floating point. What compiles for each of many shapes takes long
// to show of a kernel what other callers show.
func hasFreeFloats(op *opdef.Op, caller calls.Caller) error {
	if compiles(caller) {
		return check.Skip("shown by callers that compile nothing")
	}
	free := func(in opdef.Arg) bool { return cases.MayHoldAny(op, &in, ndarray.IsFloat) }
	return check.SkipUnless(slices.ContainsFunc(op.Inputs, free), "no input of real floats is without a range")
}

// checkHardFloats makes calls with floats at which kernels fail that compute in too little precision or range.
func checkHardFloats(t *check.T) error {
	return t.EachRow(func(d cases.DTypes) error {
		if c, err := t.NewCase(cases.BasePlan(d)); err == nil && !oracle.NeedsDigits(c) {
			t.CurrentRow().Unsupported = "each result is a sum of products, or has a tolerance of its own: what it may be off is made for random numbers"
			return nil
		}
		err := check.ForEach(t.CasesOf(cases.HardPlans(t.Op, d)), func(c *cases.Case) error {
			return check.ForEach(c.Hard(), func(h *cases.Case) error { return expectHard(t, h) })
		})
		if err != nil {
			return err
		}
		return orUndecided(t, checkHardSums(t, d), "of such inputs, the reference in float64 decides nothing, or there are none")
	})
}

// Some kernels lose digits of a sum only in a few of hardRows. As many are made as are likely to take no more than hardPatience.
const (
	hardRows     = 32
	hardPatience = 5 * time.Second
)

// checkHardSums makes calls with sums that floats lose, in as many rows as a slow kernel leaves time for.
func checkHardSums(t *check.T, d cases.DTypes) error {
	var most []*cases.Case
	var pace pace
	for rows := int64(1); rows <= hardRows; rows *= 2 {
		var made []*cases.Case
		for _, c := range t.CasesOf(cases.HardSumPlans(t.Op, d, rows)) {
			made = append(made, c.HardSums()...)
		}
		if len(made) == 0 || len(most) > 0 && made[0].Elements() <= most[0].Elements() {
			continue
		}
		pace.patience = hardPatience / time.Duration(len(made))
		if !pace.allows(made[0].Elements()) {
			t.CurrentRow().Note = "left out as too slow: " + made[0].Name
			break
		}
		if err := pace.time(made[0].Elements(), func() error { return expectHard(t, made[0]) }); err != nil {
			return err
		}
		most = made
	}
	return check.ForEach(most[min(1, len(most)):], func(h *cases.Case) error { return expectHard(t, h) })
}

// expectHard makes a call if there is a verdict about its results.
func expectHard(t *check.T, c *cases.Case) error {
	want, err := oracle.Certain(t.Ctx, t.Env.Oracle, c)
	if isUndecided(want, err) {
		return nil
	}
	if err != nil {
		return err
	}
	return expectDecided(t, c, want)
}
