package values

import (
	"errors"
	"slices"
	"time"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/oracle"
	"github.com/opcast/opcast/internal/language/ndarray"
)

var longDimsCheck = check.Check{
	ID: "long-dims", Group: check.GroupShapes, Generated: true,
	Doc:     "1,024, 4,097 and 65,537 elements along each dimension give what the reference gives, within what long float32 sums lose; sums also with zeros before the last element",
	Through: check.ThroughAdaptors, Foreign: check.Judges, Run: checkLongDims,
}

var longDimsMoreCheck = check.Check{
	ID: "long-dims-more", Group: check.GroupShapes, Generated: true, Profile: check.ProfileExtended,
	Doc:     "the same as long-dims, up to 2^20 + 1 elements, for all kernels and dtypes",
	Through: check.ThroughAdaptors, Foreign: check.Judges, Run: check.WithKernelsOnly(checkLongDimsMore),
}

// A call is made where it and the reference are likely to take no more than this.
const (
	longPatience     = 300 * time.Millisecond
	longPatienceMore = 20 * time.Second
)

func checkLongDims(t *check.T) error {
	if err := skipCompiled(t); err != nil {
		return err
	}
	d, err := t.FirstDTypes()
	if err != nil {
		return err
	}
	return longDims(t, d, longPatience, 1<<10, 1<<12+1, 1<<16+1)
}

func checkLongDimsMore(t *check.T) error {
	if err := skipCompiled(t); err != nil {
		return err
	}
	return t.EachRow(func(d cases.DTypes) error {
		return longDims(t, d, longPatienceMore, 1<<10, 1<<12+1, 1<<16+1, 1<<20+1)
	})
}

// skipCompiled skips for callers that compile for each shape: they take long to show of a kernel what others show, but for functions
// that nothing else calls.
func skipCompiled(t *check.T) error {
	return check.SkipUnless(!compiles(t.Caller) || t.Env.Foreign.Callables(), "shown by callers that compile nothing")
}

// compiles says whether a caller compiles for each of many shapes, or may.
func compiles(caller calls.Caller) bool { return calls.HasFeature(caller, calls.FeatureTransforms) }

// longDims makes one dim after the other longer, until the next call is likely to take too long. The row notes where that is.
func longDims(t *check.T, d cases.DTypes, patience time.Duration, lengths ...int64) error {
	return check.ForEach(cases.GrowingPlans(t.Op, d), func(growing cases.Growing) error {
		pace := pace{patience: patience}
		for _, n := range lengths {
			c, err := t.NewCase(growing.Plan(n))
			if err != nil || !c.Allowed() || c.LargeScratch() {
				return nil //nolint:nilerr // the definition excludes the size, or there is no room for an array
			}
			if !pace.allows(n) {
				t.CurrentRow().Note = "left out as too slow: " + c.Name
				return nil
			}
			if err := pace.time(n, func() error { return longDim(t, c, growing.Dim, n) }); err != nil {
				return err
			}
		}
		return nil
	})
}

// longDim compares a call within what sums along n elements lose, and one of the same sizes in which they lose nothing.
func longDim(t *check.T, c *cases.Case, dim string, n int64) error {
	if err := longCall(t, c, n); err != nil {
		return err
	}
	if last := c.OnlyLast(dim); last != nil {
		return longCall(t, last, n)
	}
	return nil
}

// longCall compares one call. The reference may have no room for so many elements.
func longCall(t *check.T, c *cases.Case, n int64) error {
	want, err := longReference(t, c)
	if err != nil || want == nil {
		return err
	}
	call, result, err := t.RunCase(t.Caller, c)
	if err != nil || !t.ExpectMetadata(call, c.Name, c, result) {
		return err
	}
	for i, o := range result.Existing() {
		t.CompareWithin(call, c, i, o.Array, want[i], oracle.ForLong(c, i, n))
	}
	return nil
}

// longReference are the results of the reference; nil where it raises, or there are none. Of integers that are computed from floats,
// those are left open that float32 does not decide.
func longReference(t *check.T, c *cases.Case) ([]oracle.Expected, error) {
	var raised *oracle.ReferenceError
	if c.Empty() {
		return nil, nil
	}
	want, err := t.Env.Oracle.Reference(t.Ctx, c, "float64")
	if errors.As(err, &raised) {
		t.CurrentRow().Note = "left out, since the reference raises: " + c.Name
		return nil, nil
	}
	integer := func(s cases.Slot) bool { return c.Has(s) && ndarray.IsInteger(c.Numbers(s.Arg)) }
	if err != nil || !c.HasFloats() || !slices.ContainsFunc(cases.Slots(t.Op), integer) {
		return want, err
	}
	narrow, err := t.Env.Oracle.Reference(t.Ctx, c, "float32")
	if err != nil {
		return nil, err
	}
	want = slices.Clone(want) // others ask for it, too
	for i, s := range cases.Slots(t.Op) {
		if integer(s) {
			want[i] = want[i].OpenBut(narrow[i])
		}
	}
	return want, nil
}
