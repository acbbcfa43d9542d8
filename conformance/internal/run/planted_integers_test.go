package run

import (
	"math/big"
	"strings"
	"testing"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/testkit/fake"
	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/ndarray"
)

// as changes the integers of one result, where inputs have a dtype, as if they had been in another dtype on the way.
func as(output int, of, through string) func(*calls.Call, *calls.Result) {
	return func(call *calls.Call, r *calls.Result) {
		if r.Error != nil || output >= len(r.Outputs) || x(call) == nil || of != "" && x(call).DType.Short != of {
			return
		}
		o := &r.Outputs[output]
		for i := range o.Len() {
			narrow := ndarray.FromInts(dtype.Must(through), nil, []*big.Int{ndarray.GetInt(o.DType, o.Data, i)})
			ndarray.PutInt(o.DType, o.Data, i, narrow.Ints()[0])
		}
	}
}

// Kernels that lose bits of integers are found, for each way to lose them that small numbers do not show.
func TestPlantedIntegerErrorsAreFound(t *testing.T) {
	for name, test := range map[string]struct {
		checks string
		after  func(*calls.Call, *calls.Result)
	}{
		"u64 is cast to int32":               {"large-integers", as(0, "u64", "i32")},
		"i64 is cast to int32":               {"large-integers", as(0, "i64", "i32")},
		"u64 is cast to uint32":              {"large-integers", as(0, "u64", "u32")},
		"only seven bits of a byte":          {"large-integers", func(c *calls.Call, r *calls.Result) { keep(c, r, "u8", 0x7f) }},
		"only half of the bits":              {"large-integers", func(c *calls.Call, r *calls.Result) { keep(c, r, "u64", 1<<32-1) }},
		"bytes are summed in 16 bits":        {"large-integers", as(1, "i8", "i16")},
		"unsigned bytes are summed so":       {"large-integers", as(1, "u8", "u16")},
		"unsigned bytes as signed":           {"large-integers", signedBytes},
		"ranged integers in float64":         {"value", func(_ *calls.Call, r *calls.Result) { throughFloat(r, 2) }},
		"ranged integers are cast":           {"value contents", as(2, "", "i32")},
		"large sums are computed in float64": {"large-integers", func(_ *calls.Call, r *calls.Result) { throughFloat(r, 0) }},
	} {
		t.Run(name, func(t *testing.T) {
			for id := range strings.FieldsSeq(test.checks) {
				caller := &fake.Framework{CallerName: "fake", After: test.after}
				if status := fakeRunOf(t, "counts", id, caller, nil); !strings.Contains(status, "fail: ") {
					t.Errorf("%s: %s", id, status)
				}
			}
		})
	}
}

// keep leaves the given bits of the first result.
func keep(call *calls.Call, r *calls.Result, of string, mask uint64) {
	if r.Error != nil || len(r.Outputs) == 0 || x(call).DType.Short != of {
		return
	}
	o := &r.Outputs[0]
	for i := range o.Len() {
		v := ndarray.GetInt(o.DType, o.Data, i)
		ndarray.PutInt(o.DType, o.Data, i, v.And(v, new(big.Int).SetUint64(mask)))
	}
}

// signedBytes sums unsigned bytes as if they were signed.
func signedBytes(call *calls.Call, r *calls.Result) {
	if r.Error != nil || len(r.Outputs) < 2 || x(call).DType.Short != "u8" {
		return
	}
	o, n := &r.Outputs[1], x(call).Shape[x(call).Rank()-1]
	for i, v := range x(call).Ints() {
		if v.Int64() > 127 {
			at := int64(i) / n
			ndarray.PutInt(o.DType, o.Data, at, v.Sub(ndarray.GetInt(o.DType, o.Data, at), big.NewInt(256)))
		}
	}
}

// throughFloat rounds integers of 64 bits to float64.
func throughFloat(r *calls.Result, output int) {
	if r.Error != nil || output >= len(r.Outputs) || !ndarray.IsWide(r.Outputs[output].DType) {
		return
	}
	o := &r.Outputs[output]
	for i := range o.Len() {
		v, _ := new(big.Float).SetFloat64(ndarray.GetFloat(o.DType, o.Data, i)).Int(nil)
		ndarray.PutInt(o.DType, o.Data, i, v)
	}
}

// What a library says about values beyond a large bound has all digits of it.
func TestLargeBounds(t *testing.T) {
	for _, id := range []string{"contents-refused", "oracle", "contents", "value"} {
		if status := fakeRunOf(t, "counts", id, &fake.Framework{CallerName: calls.BackendName}, nil); !strings.HasPrefix(status, "pass") || strings.Contains(status, "fail") {
			t.Errorf("%s: %s", id, status)
		}
	}
	imprecise := &fake.Framework{CallerName: "fake", After: func(_ *calls.Call, r *calls.Result) {
		if r.Error != nil {
			r.Error.Text = strings.ReplaceAll(r.Error.Text, "4611686018427387904", "4.61169e+18")
		}
	}}
	if status := fakeRunOf(t, "counts", "contents-refused", imprecise, nil); !strings.Contains(status, "want ValueError: counts: marks: expected values of at most 4611686018427387904") {
		t.Error(status)
	}
}
