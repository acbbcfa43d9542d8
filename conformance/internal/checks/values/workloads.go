package values

import (
	"slices"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/oracle"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
)

var workloadsCheck = check.Check{
	ID: "workloads", Group: check.GroupShapes, Generated: true, Profile: check.ProfileExtended,
	Doc:     "calls of the workloads give what the reference gives for a few rows along each parallel dimension",
	Through: check.ThroughAdaptors, Needs: check.When(func(op *opdef.Op) bool { return len(op.Workloads) > 0 }, "the definition has no workloads"),
	Foreign: check.Judges, Run: checkWorkloads,
}

// A workload is left out where an argument has more elements than mostElements, or where the reference would have to compute more than
// mostRows of a result.
const (
	mostElements = 1 << 26
	mostRows     = 1 << 22
)

func checkWorkloads(t *check.T) error {
	if err := skipCompiled(t); err != nil {
		return err
	}
	choices := cases.SupportedDTypes(t.Op, t.Env.Device)
	return check.ForEach(t.Op.Workloads, func(w opdef.Workload) error {
		i := slices.IndexFunc(choices, func(d cases.DTypes) bool { return w.Takes(d) })
		if i < 0 {
			return nil
		}
		t.StartRow("", choices[i].String())
		c, err := t.NewCase(cases.Plan{
			Name: w.Name, DTypes: choices[i], Batch: flat(w.Batch), Sizes: w.Sizes, Attrs: w.Attrs, Without: w.Without, Largest: mostElements,
		})
		if err != nil {
			t.CurrentRow().Unsupported = w.Name + ": an array has more elements than a call of the suite"
			return nil //nolint:nilerr // that is what it says
		}
		return workload(t, c)
	})
}

// flat are leading dims as one, of which a part can be taken.
func flat(batch []int64) []int64 {
	if len(batch) == 0 {
		return batch
	}
	return []int64{ndarray.Count(batch)}
}

// workload makes the call, and judges the first, the middle and the last rows along all parallel dimensions at once.
func workload(t *check.T, c *cases.Case) error {
	var parts []*cases.Case
	for place := range 3 {
		part, err := corner(c, place)
		if err != nil {
			return err
		}
		if results, err := part.ZeroResults(); err != nil || slices.ContainsFunc(results, func(a *ndarray.Array) bool { return a != nil && a.Len() > mostRows }) {
			t.CurrentRow().Unsupported = c.Name + ": no dimension is parallel, and the reference would take long"
			return err
		}
		parts = append(parts, part)
	}
	call, result, err := t.RunCase(t.Caller, c)
	if err != nil || !t.ExpectMetadata(call, c.Name, c, result) {
		return err
	}
	for place, part := range parts {
		want, err := t.Env.Oracle.Reference(t.Ctx, part, "float64")
		if err != nil {
			return err
		}
		for i, o := range result.Existing() {
			if got := rowsOf(t, c, i, o, place); got != nil {
				t.CompareWithin(call, part, i, got, want[i], oracle.ForLong(part, i, longest(part)))
			}
		}
	}
	return nil
}

// few are the rows of a dimension at a place: the first ones, those in the middle, or the last ones.
func few(n int64, place int) (from, to int64) {
	rows := min(n, 2)
	from = (n - rows) * int64(place) / 2
	return from, from + rows
}

// corner is the call on a few rows along each parallel dimension.
func corner(c *cases.Case, place int) (part *cases.Case, err error) {
	part = c
	for _, dim := range c.Op.ParallelDims() {
		if opdef.IsLead(dim) && len(c.Batch) == 0 {
			continue
		}
		from, to := few(c.Rows(dim), place)
		if part, err = part.Part(dim, from, to); err != nil {
			return nil, err
		}
	}
	return part, nil
}

// rowsOf are these rows of a result; nil where it is a sum over others.
func rowsOf(t *check.T, c *cases.Case, slot int, o calls.Output, place int) *ndarray.Array {
	s, a := cases.Slots(t.Op)[slot], o.Array
	for _, dim := range t.Op.ParallelDims() {
		axis := c.AxisAlong(s.Arg, dim)
		if axis >= 0 {
			from, to := few(c.Rows(dim), place)
			a = cases.Slice(a, axis, from, to)
		} else if slices.Contains(t.Op.Sums, dim) {
			return nil
		}
	}
	return a
}

// longest is the longest dimension of a call.
func longest(c *cases.Case) (n int64) {
	for _, size := range c.Sizes {
		n = max(n, size)
	}
	return n
}
