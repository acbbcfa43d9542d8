package run

import (
	"strings"
	"testing"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/checks/values"
	"github.com/opcast/opcast/conformance/internal/testkit/fake"
	"github.com/opcast/opcast/conformance/internal/transformed"
	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
)

// promising is a check of an op with two kernels, of which one breaks the promise of bits along these dims.
func promising(t *testing.T, breaks []string, caller *fake.Framework) *check.T {
	t.Helper()
	op := *fake.ToyOp(t, "affine")
	op.Kernels = []opdef.Kernel{{Name: "split_k", Devices: []string{"cpu"}, Breaks: breaks}, {Name: "plain", Devices: []string{"cpu"}}}
	env := &check.Environment{Project: fake.Toy(t), Device: "cpu", Oracle: fakeOracle{}, Callers: []calls.Caller{caller}}
	return &check.T{Ctx: t.Context(), Env: env, Op: &op, Caller: caller}
}

// A kernel whose bits depend on the number of rows breaks the promise that it gives, and no other; its values count in any case.
func TestPromisesOfOneKernel(t *testing.T) {
	odd := func(c *calls.Call) bool { return c.Kernel == "split_k" && x(c).Shape[0]%2 == 1 }
	for name, c := range map[string]struct {
		breaks []string
		plant  func(*calls.Call, *calls.Result)
		fails  bool
	}{
		"promised":        {nil, byOneSpacing(odd), true},
		"another dim":     {[]string{"N"}, byOneSpacing(odd), true},
		"not promised":    {[]string{"*"}, byOneSpacing(odd), false},
		"values are kept": {[]string{"*"}, wrongWhen(odd), true},
	} {
		one := promising(t, c.breaks, &fake.Framework{CallerName: calls.BackendName, After: c.plant})
		if err := values.CheckSplit(one); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var failures []string
		for _, r := range one.Rows {
			failures = append(failures, r.Failures...)
			if r.Checked == 0 {
				t.Errorf("%s: %s %s was not checked", name, r.Kernel, r.DTypes)
			}
		}
		if (len(failures) > 0) != c.fails {
			t.Errorf("%s: %s", name, strings.Join(failures, "\n"))
		}
	}
}

// What frameworks make of calls along parallel dims has the bits of the parts only if each kernel keeps them that may run.
func TestPartsThatFrameworksMake(t *testing.T) {
	for row, kept := range map[string]bool{"split_k": false, "plain": true, "": false} {
		one := promising(t, []string{"*"}, &fake.Framework{CallerName: calls.BackendName})
		one.StartRow(row, "")
		want := ndarray.FromFloats(dtype.Must("f32"), []int64{2}, []float64{1, 2})
		for by, equal := range map[float64]bool{0: true, 1: !kept, 1e6: false} {
			got := ndarray.FromFloats(want.DType, want.Shape, []float64{1, 2 + by*ndarray.Spacing(want.DType, 2)})
			if text := transformed.SameParts(one)("y", got, want); (text == "") != equal {
				t.Errorf("kernel %q, %v spacings off: %q", row, by, text)
			}
		}
	}
}

// byOneSpacing moves the last element of the results of the calls that a test accepts by what a tolerance allows.
func byOneSpacing(test func(call *calls.Call) bool) func(*calls.Call, *calls.Result) {
	return func(call *calls.Call, r *calls.Result) {
		if o := r.Outputs[0]; test(call) {
			values := o.Floats()
			last := len(values) - 1
			values[last] += ndarray.Spacing(o.DType, values[last])
			r.Outputs[0].Array = ndarray.FromFloats(o.DType, o.Shape, values)
		}
	}
}
