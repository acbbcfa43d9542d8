package values

import (
	"math"
	"slices"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/oracle"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/expr"
	"github.com/opcast/opcast/internal/language/rule"
)

var splitCheck = check.Check{
	ID: "split", Group: check.GroupValues, Generated: true,
	Doc:     "a part of the inputs along a parallel dim gives the bits of the same part of the results",
	Needs:   check.When(func(op *opdef.Op) bool { return len(op.SplitDims()) > 0 }, "the op has no parallel dimension"),
	Foreign: check.Foreign{Judged: true, Functions: "parts give the bits of parts in generated collections; values are judged by the reference"},
	Run:     CheckSplit,
}

// splitPlans have dimensions worth splitting. Where kernels have conditions on sizes, the halves of others may meet them, too.
func splitPlans(op *opdef.Op, d cases.DTypes) []cases.Plan {
	plan := cases.Plan{Name: "split", DTypes: d, Batch: []int64{7}}
	plans := append([]cases.Plan{plan}, cases.LeadPlans(op, d, plan.Batch)...)
	if slices.ContainsFunc(op.Kernels, func(k opdef.Kernel) bool { return k.When != nil }) {
		round := plan
		round.Sizes = map[string]int64{}
		for _, dim := range op.SplitDims() {
			if !opdef.IsLead(dim) {
				round.Sizes[dim] = 32
			}
		}
		plans = append(plans, round)
	}
	return plans
}

// CheckSplit cuts the inputs along each parallel dimension: the parts of the result have the bits of the results of the
// parts, so no element depends on its neighbours. What lacks the dimension is the sum of the parts if that is declared, else
// it has the same bits whichever part is there.
func CheckSplit(t *check.T) error {
	return t.EachCase(func(d cases.DTypes) []cases.Plan { return splitPlans(t.Op, d) }, func(c *cases.Case) error {
		whole, err := t.RunBaseline(t.Caller, c)
		if err != nil {
			return err
		}
		return check.ForEach(t.Op.SplitDims(), func(dim string) error { return split(t, c, whole, dim) })
	})
}

// split compares the leading and the trailing part of a result with the results of the parts.
func split(t *check.T, c *cases.Case, whole *calls.Result, dim string) error {
	if len(c.Batch) != 1 {
		return nil // inputs that are broadcast may all lack it
	}
	size := c.Rows(dim)
	if size < 2 {
		return nil
	}
	pieces, err := takenParts(t, c, dim, size)
	if err != nil {
		return err
	}
	parts := [][]calls.Output{}
	for n, piece := range pieces {
		part := [][2]int64{{0, size / 2}, {size / 2, size}}[n]
		call, got, err := t.RunCase(t.Caller, piece)
		if err != nil {
			return err
		}
		if !kept(t, dim) {
			if err := t.ExpectReference(call, piece, got); err != nil {
				return err
			}
		} else {
			expectPart(t, call, piece, whole, got, dim, part)
		}
		parts = append(parts, got.Outputs)
	}
	if len(parts) > 0 {
		expectSumOfParts(t, c, whole, dim, parts)
	}
	return nil
}

// kept says whether the kernel of the present row, or each that dispatch may choose, gives parts along a dim the bits of the whole.
func kept(t *check.T, dim string) bool {
	if k := t.RowKernel(); k != nil {
		return k.Keeps(dim)
	}
	return !slices.ContainsFunc(cases.Dispatched(t.Op, t.Env.Device), func(k opdef.Kernel) bool { return !k.Keeps(dim) })
}

// expectPart compares the results of a part with that part of the whole ones.
func expectPart(t *check.T, call *calls.Call, c *cases.Case, whole, got *calls.Result, dim string, part [2]int64) {
	for i, w := range whole.Existing() {
		s := cases.Slots(t.Op)[i]
		axis := c.AxisAlong(s.Arg, dim)
		if !t.Op.Deterministic || axis < 0 && slices.Contains(t.Op.Sums, dim) {
			continue
		}
		want := w.Array
		if axis >= 0 {
			want = cases.Slice(w.Array, axis, part[0], part[1])
		}
		switch text := oracle.SameBits(s.Name, got.Outputs[i].Array, want); {
		case text != "" && axis < 0:
			t.Fail(call, c.Name, "%s; %s lacks the parallel dimension %s: it must not depend on it, or %s has to be in sums", text, s.Name, dim, dim)
		case text != "":
			t.Fail(call, c.Name, "%s", text)
		}
	}
}

// takenParts are the calls on both halves of the inputs; none where the kernel of the present row does not take one of them.
func takenParts(t *check.T, c *cases.Case, dim string, size int64) ([]*cases.Case, error) {
	var pieces []*cases.Case
	for _, part := range [][2]int64{{0, size / 2}, {size / 2, size}} {
		piece, err := c.Part(dim, part[0], part[1])
		if err != nil {
			return nil, err
		}
		if k := t.RowKernel(); k != nil && piece.Acceptance(k) == expr.KnownFalse {
			return nil, nil
		}
		pieces = append(pieces, piece)
	}
	return pieces, nil
}

// expectSumOfParts expects each result that lacks the dimension to be the sum of its parts, within what its bound
// allows each.
func expectSumOfParts(t *check.T, c *cases.Case, whole *calls.Result, dim string, parts [][]calls.Output) {
	for i, w := range whole.Existing() {
		s := cases.Slots(t.Op)[i]
		if cases.AxisOf(s.Type, dim) >= 0 || !slices.Contains(t.Op.Sums, dim) || !w.DType.Inexact() {
			continue
		}
		bound := oracle.ToleranceOf(c, i)
		total, a, b := w.Floats(), parts[0][i].Floats(), parts[1][i].Floats()
		for k := range total {
			allowed := 0.0
			for _, v := range []float64{total[k], a[k], b[k]} {
				allowed += bound.ULPs*ndarray.Spacing(w.DType.Part(), v) + bound.Abs + bound.Rel*math.Abs(v)
			}
			if distance := math.Abs(total[k] - a[k] - b[k]); !(distance <= allowed) {
				t.Fail(calls.New(c), c.Name, "%s%s: the parts along %s add up to %v, the whole is %v",
					s.Name, rule.List(w.Parts().Index(int64(k))), dim, a[k]+b[k], total[k])
				break
			}
		}
	}
}
