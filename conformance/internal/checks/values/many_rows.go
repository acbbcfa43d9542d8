package values

import (
	"slices"

	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/internal/language/opdef"
)

var manyRowsCheck = check.Check{
	ID: "many-rows", Group: check.GroupShapes, Generated: true,
	Doc:     "65,537 rows along a parallel dimension give what the reference gives",
	Through: check.ThroughAdaptors,
	Needs:   check.When(func(op *opdef.Op) bool { return len(op.ParallelDims()) > 0 }, "the op has no parallel dimension"),
	Foreign: check.Judges, Run: check.WithEachKernel(checkManyRows),
}

// checkManyRows repeats a few rows until there are many: those of the results repeat in the same way, so that the reference has to
// give only a few of them. Rows have a few elements, and then one.
func checkManyRows(t *check.T) error {
	if err := skipCompiled(t); err != nil {
		return err
	}
	return t.EachRow(func(d cases.DTypes) error {
		return check.ForEach(t.Op.ParallelDims(), func(dim string) error {
			return check.ForEach(cases.ManyPlans(t.Op, d), func(p cases.Plan) error {
				p.Sampler = t.OpSampler()
				many, few, ok := cases.Many(t.Op, dim, p, t.NewCase)
				if !ok {
					t.CurrentRow().Unsupported = "no sizes with so many rows make arrays of a moderate size, or rows are sorted"
					return nil
				}
				return manyRows(t, many, few, dim)
			})
		})
	})
}

func manyRows(t *check.T, many, few *cases.Case, dim string) error {
	call, result, err := t.RunCase(t.Caller, many)
	if err != nil || !t.ExpectMetadata(call, many.Name, many, result) {
		return err
	}
	want, err := t.Env.Oracle.Reference(t.Ctx, few, "float64")
	if err != nil {
		return err
	}
	for i, o := range result.Existing() {
		s := cases.Slots(t.Op)[i]
		if axis := few.AxisAlong(s.Arg, dim); axis >= 0 {
			shape, err := many.ShapeOfNumbers(s.Arg)
			if err != nil {
				return err
			}
			t.CompareOutput(call, many, i, o.Array, want[i].Repeated(axis, shape[axis]))
		} else if !slices.Contains(t.Op.Sums, dim) {
			t.CompareOutput(call, many, i, o.Array, want[i])
		}
	}
	return nil
}
