package run

import (
	"hash/crc32"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/testkit/fake"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/system/rpc"
)

// wrongLast is a framework whose results end with a number that is off by one in calls that a test accepts.
func wrongLast(test func(call *calls.Call) bool) *fake.Framework {
	return &fake.Framework{CallerName: calls.BackendName, After: func(call *calls.Call, r *calls.Result) {
		if r.Error == nil && test(call) && r.Outputs[0].Len() > 0 {
			o, last := r.Outputs[0], r.Outputs[0].Len()-1
			ndarray.PutFloat(o.DType, o.Data, last, ndarray.GetFloat(o.DType, o.Data, last)+1)
		}
	}}
}

// from says whether some dimension of a call has so many elements.
func from(threshold int64) func(call *calls.Call) bool {
	return func(call *calls.Call) bool {
		long := func(n int64) bool { return n >= threshold }
		return slices.ContainsFunc(call.Tensors(), func(x *calls.Tensor) bool { return slices.ContainsFunc(x.Shape, long) })
	}
}

// A kernel that is wrong from some size on is found, whichever it is. By a check of core up to 65,537, if the machine is quick enough:
// long-dims leaves out sizes that would take long.
func TestPlantedThresholdsAreFound(t *testing.T) {
	ops, step, last := []string{"affine", "norm", "gather", "join", "ragged"}, 1, 19
	if testing.Short() { // a toy is slow with 2^20 elements, and a busy machine leaves them out
		ops, step, last = []string{"affine", "ragged"}, 9, 9
	}
	for i := 0; i <= last; i += step {
		threshold := int64(1000 * math.Pow(1000, float64(i)/19))
		for _, op := range ops {
			found := ""
			for _, check := range []string{"sizes", "many-rows", "long-dims", "long-dims-more"} {
				if strings.Contains(fakeRunOf(t, op, check, wrongLast(from(threshold)), nil), "fail: ") {
					found = check
					break
				}
			}
			if found == "" {
				t.Errorf("%s, wrong from %d elements on: found by %q", op, threshold, found)
			}
			t.Logf("%s, wrong from %d elements on: found by %s", op, threshold, found)
		}
	}
}

// What one row does must not depend on how many there are; a part of a call is not enough for a kernel to change its way.
func TestPlantedBatchSizesAreFound(t *testing.T) {
	many := func(call *calls.Call) bool { return x(call).Shape[0] >= 100 }
	some := func(call *calls.Call) bool { return many(call) && x(call).Shape[0] < 200 }
	for _, wrong := range []func(*calls.Call) bool{many, some} {
		caller := &fake.Framework{CallerName: calls.BackendName, After: when(wrong)}
		for check, found := range map[string]bool{"split": false, "batch-invariance": true} {
			if status := fakeRunOf(t, "affine", check, caller, nil); strings.Contains(status, "fail: ") != found {
				t.Errorf("%s: %s", check, status)
			}
		}
	}
}

// elementsOf are the elements of an input; nil where it is left out.
func elementsOf(call *calls.Call, i int) []float64 {
	if a, given := call.Inputs[i].(*calls.Tensor); given && a != nil {
		return a.Floats()
	}
	return nil
}

// Combinations and contents that usual calls do not have are looked for, each by the check that is for it.
func TestPlantedContentsAreFound(t *testing.T) {
	made := 0
	for name, test := range map[string]struct {
		op, check string
		wrong     func(call *calls.Call) bool
	}{
		"one of 256 contents": {"affine", "many-inputs-more", func(call *calls.Call) bool { return crc32.ChecksumIEEE(x(call).Data)%256 == 0 }},
		"after 200 calls":     {"affine", "many-inputs-more", func(*calls.Call) bool { made++; return made > 200 }},
		"whole tiles of 256":  {"affine", "long-dims", func(call *calls.Call) bool { return from(256)(call) && rowLength(x(call))%256 == 0 }},
		"a choice for long rows": {"affine", "attr-sizes", func(call *calls.Call) bool {
			return call.Attrs["mode"] == "relu" && from(1000)(call)
		}},
		"no bias, and many rows":      {"affine", "attr-sizes", func(call *calls.Call) bool { return call.Inputs[2] == nil && from(1000)(call) }},
		"the last rows of a workload": {"affine", "workloads", func(call *calls.Call) bool { return x(call).Shape[0] == 2000 }},
		"rows of zeros": {"affine", "special-values", func(call *calls.Call) bool {
			n := rowLength(x(call))
			row := elementsOf(call, 0)
			return len(row) >= 2*n && !slices.ContainsFunc(row[n:2*n], func(v float64) bool { return v != 0 })
		}},
		"rows that are not read": {"ragged", "ignored", func(call *calls.Call) bool { return slices.ContainsFunc(elementsOf(call, 0), math.IsNaN) }},
		"a range with room at both ends": {"ragged", "contents", func(call *calls.Call) bool {
			limits := elementsOf(call, 2)
			return len(limits) > 0 && limits[0] > 0 && limits[len(limits)-1] < float64(x(call).Shape[0])
		}},
	} {
		if status := fakeRunOf(t, test.op, test.check, wrongLast(test.wrong), nil); !strings.Contains(status, "fail: ") {
			t.Errorf("%s: %s", name, status)
		}
	}
}

func rowLength(x *calls.Tensor) int { return int(x.Shape[x.Rank()-1]) }

// An op without floats has no special values, and is not said to be right about them.
func TestSpecialValuesOfIntegers(t *testing.T) {
	if status := fakeRunOf(t, "counts", "special-values", &fake.Framework{CallerName: calls.BackendName}, nil); !strings.HasPrefix(status, "skip") {
		t.Error(status)
	}
}

// Who reads past the end of an input ends the process, and who declines a call has not been judged.
func TestPlantedReadsPastTheEndAreFound(t *testing.T) {
	dies := &fake.Framework{CallerName: calls.BackendName, Before: func(call *calls.Call) (*calls.Result, error) {
		if call.Probe == check.GroupWatch+".edge" {
			return nil, &rpc.CrashError{Reason: "signal: segmentation fault"}
		}
		return nil, nil
	}}
	if status := fakeRunOf(t, "affine", "edges", dies, nil); !strings.Contains(status, "fail: ") {
		t.Error(status)
	}
}
