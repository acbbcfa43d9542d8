package conformance

import (
	"fmt"
	"slices"

	"github.com/opcast/opcast/internal/ndarray"
	"github.com/opcast/opcast/internal/opdef"
)

// shaped expects outputs of the inferred dtypes and shapes, dense, on the device under test. It reports whether the values
// can be compared.
func (t *T) shaped(call *Call, name string, c *Case, result *Result) bool {
	want, err := c.Outputs()
	if err != nil {
		t.Fail(call, name, "%v", err)
		return false
	}
	ok := true
	for i, o := range result.Outputs {
		if text := t.misshaped(o, want[i]); text != "" {
			ok = false
			t.Fail(call, name, "%s: %s", t.Op.Outputs[i].Name, text)
		}
	}
	return ok
}

// misshaped says how an output differs from what was inferred, or "".
func (t *T) misshaped(o Output, want *ndarray.Array) string {
	got, expected := o.DType.Long+list(o.Shape), want.DType.Long+list(want.Shape)
	if got != expected {
		return fmt.Sprintf("got %s, want %s", got, expected)
	}
	if o.Abstract {
		return ""
	}
	layout := &ndarray.Array{Shape: o.Shape, Strides: o.Strides}
	if !layout.IsDense() {
		return fmt.Sprintf("got strides %s, want dense memory", list(o.Strides))
	}
	if t.Caller.Name() != "cupy" && o.Device != t.env.device {
		return fmt.Sprintf("got device %s, want %s", o.Device, t.env.device)
	}
	return ""
}

// checkShape compares inferred and actual shape and dtype of every sample of every size, and counts the launches: one, or
// none when every output is empty. An adaptor that computes with its framework instead would launch none.
func checkShape(t *T) error {
	plans := func(d dtypes) []plan { return append(valuePlans(t.Op, d), rankPlans(t.Op, d)...) }
	return t.eachCase(plans, func(c *Case) error {
		call, result, err := t.right(t.Caller, c)
		if err != nil || result == nil {
			return err
		}
		t.shaped(call, c.Name, c, result)
		t.launched(call, c, result)
		return nil
	})
}

func (t *T) launched(call *Call, c *Case, result *Result) {
	want := int64(1)
	if c.empty() {
		want = 0
	}
	if result.Launches != want {
		t.Fail(call, c.Name, "started %d kernels, want %d", result.Launches, want)
	}
}

func checkRank(t *T) error {
	return t.eachCase(func(d dtypes) []plan { return rankPlans(t.Op, d) }, t.valueOf)
}

func checkSizes(t *T) error {
	return t.eachCase(func(d dtypes) []plan { return sizePlans(t.Op, d) }, t.valueOf)
}

// checkZero makes each dimension zero: the right shapes, neutral values, no launch where nothing is to be computed, and a
// caller that still works afterwards.
func checkZero(t *T) error {
	return t.each(func(d dtypes) error {
		for _, c := range cases(t.Op, zeroPlans(t.Op, d)) {
			call, result, err := t.right(t.Caller, c)
			if err != nil {
				return err
			}
			if result == nil || !t.shaped(call, c.Name, c, result) {
				continue
			}
			t.launched(call, c, result)
			if err := t.matches(call, c, result); err != nil {
				return err
			}
		}
		after, err := newCase(t.Op, base(d))
		if err != nil {
			return err
		}
		return t.valueOf(after)
	})
}

// parallelDims are the dimensions along which an op promises to be independent; the leading ones always are.
func parallelDims(op *opdef.Op) []string {
	if op.HasBatch() {
		return append(slices.Clone(op.Parallel), "*")
	}
	return op.Parallel
}

// splitPlan has dimensions worth splitting.
func splitPlan(d dtypes) plan { return plan{name: "split", dtypes: d, batch: []int64{7}} }

// checkSplit cuts the inputs along each parallel dimension: the parts of the result have the bits of the results of the
// parts, so no element depends on its neighbours.
func checkSplit(t *T) error {
	return t.eachCase(func(d dtypes) []plan { return []plan{splitPlan(d)} }, func(c *Case) error {
		whole, err := t.baseline(t.Caller, c)
		if err != nil || whole == nil {
			return err
		}
		for _, dim := range parallelDims(t.Op) {
			if err := t.split(c, whole, dim); err != nil {
				return err
			}
		}
		return nil
	})
}

// split compares the leading and the trailing part of a result with the results of the parts.
func (t *T) split(c *Case, whole *Result, dim string) error {
	size := c.Batch[0]
	if dim != "*" {
		size = c.Sizes[dim]
	}
	if size < 2 {
		return nil
	}
	cut := size / 2
	for _, part := range [][2]int64{{0, cut}, {cut, size}} {
		piece, err := c.part(dim, part[0], part[1])
		if err != nil {
			return err
		}
		call, got, err := t.right(t.Caller, piece)
		if err != nil || got == nil {
			return err
		}
		for i := range t.Op.Outputs {
			axis := axisOf(t.Op.Outputs[i].Type, dim)
			if axis < 0 {
				continue
			}
			want := section(whole.Outputs[i].Array, axis, part[0], part[1])
			if text := sameBits(t.Op.Outputs[i].Name, got.Outputs[i].Array, want); text != "" {
				t.Fail(call, piece.Name, "%s", text)
			}
		}
	}
	return nil
}
