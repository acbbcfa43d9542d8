package conformance

import (
	"fmt"

	"github.com/opcast/opcast/internal/ndarray"
)

// shaped expects outputs of the inferred dtypes and shapes, dense, on the device under test. It reports whether the values
// can be compared.
func (t *T) shaped(call *Call, name string, c *Case, result *Result) bool {
	want, err := c.results()
	if err != nil {
		t.Fail(call, name, "%v", err)
		return false
	}
	ok := true
	for i, o := range result.present() {
		s := slots(t.Op)[i]
		dense := s.output >= 0 || !writesMemory(t.Caller)
		if text := t.misshaped(o, want[i], dense); text != "" {
			ok = false
			t.Fail(call, name, "%s: %s", s.Name, text)
		}
	}
	return ok
}

// misshaped says how a result differs from what was inferred, or "". What was overwritten keeps the strides that it had.
func (t *T) misshaped(o Output, want *ndarray.Array, dense bool) string {
	got, expected := o.DType.Long+list(o.Shape), want.DType.Long+list(want.Shape)
	if got != expected {
		return fmt.Sprintf("got %s, want %s", got, expected)
	}
	if o.Abstract {
		return ""
	}
	layout := &ndarray.Array{Shape: o.Shape, Strides: o.Strides}
	if dense && !layout.IsDense() {
		return fmt.Sprintf("got strides %s, want dense memory", list(o.Strides))
	}
	if o.Device != t.env.device {
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
		if err != nil {
			return err
		}
		t.shaped(call, c.Name, c, result)
		t.launched(call, c, result)
		return nil
	})
}

func (t *T) launched(call *Call, c *Case, result *Result) {
	if t.env.foreign != nil {
		return // nobody counts
	}
	want := int64(0)
	for _, o := range result.present() {
		if o.Len() > 0 {
			want = 1
		}
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
		err := forEach(t.cases(zeroPlans(t.Op, d)), func(c *Case) error {
			call, result, err := t.right(t.Caller, c)
			if err != nil || !t.shaped(call, c.Name, c, result) {
				return err
			}
			t.launched(call, c, result)
			return t.matches(call, c, result)
		})
		if err != nil {
			return err
		}
		after, err := t.newCase(base(d))
		if err != nil {
			return err
		}
		return t.valueOf(after)
	})
}
