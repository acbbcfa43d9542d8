package e2e

import (
	"errors"
	"math"
	"testing"
	"unsafe"

	"github.com/opcast/opcast/internal/system/tvmffi"
)

// opcallFloats is a dense float32 array; its elements do not matter.
func opcallFloats(shape ...int64) *tvmffi.Tensor {
	n := int64(1)
	for _, size := range shape {
		n *= size
	}
	return tvmffi.Of(make([]float32, n+1), tvmffi.Float32, shape...)
}

// opcallText is an error as it is raised; "" for none.
func opcallText(t *testing.T, err error) string {
	t.Helper()
	var raised *tvmffi.Error
	if err != nil && !errors.As(err, &raised) {
		t.Fatal(err)
	}
	if err == nil {
		return ""
	}
	return raised.Error()
}

// op_call is refused in the words of the op, whatever is wrong with the call: nothing crashes.
func TestOpCallErrors(t *testing.T) {
	library := opcallOpen(t)
	a, b, c := opcallFloats(2, 3), opcallFloats(4, 3), opcallFloats(2, 4)
	x, y := opcallFloats(2, 2), opcallFloats(2, 2)
	image, filter, out := opcallFloats(1, 1, 4, 4), opcallFloats(1, 1, 3, 3), opcallFloats(1, 1, 2, 2)
	const gemm, conv = "gemm", "conv2d"
	cases := []struct {
		name string
		args []any
		want string
	}{
		{"plain", []any{gemm, 2, 1, 0, a, b, c}, ""},
		{"by number", []any{2, 2, 1, 0, a, b, c}, ""},
		{"absent bias", []any{gemm, 3, 1, 0, a, b, nil, c}, ""},
		{"all attributes", []any{gemm, 2, 1, 0, a, b, c, "out_dtype", "float32", "activation", "relu", "alpha", 2}, ""},
		{"no dtype", []any{gemm, 2, 1, 0, a, b, c, "out_dtype", nil}, ""},
		{"dtype value", []any{gemm, 2, 1, 0, a, b, c, "out_dtype", tvmffi.Any{Type: 5, Bits: 2 | 32<<8 | 1<<16}}, ""},
		{"list", []any{conv, 2, 1, 0, image, filter, out, "stride", []int64{1, 1}}, ""},
		{"one for a list", []any{conv, 2, 1, 0, image, filter, out, "stride", 1}, ""},

		{"nothing", nil, "TypeError: op_call: expected 4 arguments, got 0"},
		{"no counts", []any{gemm}, "TypeError: op_call: expected 4 arguments, got 1"},
		{"no kind", []any{nil, 0, 0, 0}, "TypeError: op_call: kind: expected the number or name of an op, got NoneType"},
		{"float for kind", []any{2.0, 0, 0, 0}, "TypeError: op_call: kind: expected the number or name of an op, got float"},
		{"unknown number", []any{1 << 40, 0, 0, 0}, "ValueError: op_call: kind: expected the number or name of an op, got 1099511627776"},
		{"negative number", []any{-1, 0, 0, 0}, "ValueError: op_call: kind: expected the number or name of an op, got -1"},
		{"unknown name", []any{"gem", 0, 0, 0}, "ValueError: op_call: kind: expected the number or name of an op, got 'gem'"},
		{"empty name", []any{"", 0, 0, 0}, "ValueError: op_call: kind: expected the number or name of an op, got ''"},

		{"count of text", []any{gemm, "2", 1, 0}, "TypeError: op_call: inputs: expected int, got str"},
		{"negative count", []any{gemm, 0, -1, 0}, "ValueError: op_call: outputs: expected a number of arrays that follow, got -1"},
		{"count beyond", []any{gemm, 2, 2, 0, a, b, c}, "ValueError: op_call: outputs: expected a number of arrays that follow, got 2"},
		{"huge counts", []any{gemm, math.MaxInt64, math.MaxInt64, math.MaxInt64}, "ValueError: op_call: inputs: expected a number of arrays that follow, got 9223372036854775807"},
		{"too many inputs", []any{gemm, 4, 1, 0, a, b, nil, a, c}, "TypeError: gemm: inputs: expected at most 3 arrays, got 4"},
		{"too many outputs", []any{gemm, 2, 2, 0, a, b, c, c}, "TypeError: gemm: outputs: expected at most 1 array, got 2"},
		{"scratch that is not declared", []any{conv, 2, 1, 1, image, filter, out, out}, "TypeError: conv2d: scratch: expected none, got 1"},
		{"no arrays", []any{gemm, 0, 0, 0}, "TypeError: gemm: missing required argument 'a'"},
		{"no output", []any{gemm, 2, 0, 0, a, b}, "TypeError: gemm: missing required argument 'c'"},
		{"text for an array", []any{gemm, 2, 1, 0, a, "b", c}, "TypeError: gemm: b: expected DLPack tensor, got str"},

		{"unknown attribute", []any{gemm, 2, 1, 0, a, b, c, "beta", 1}, "TypeError: gemm: attrs: expected one of 'alpha', 'activation', 'out_dtype', got 'beta'"},
		{"attribute of an op without", []any{"eltwise_add", 2, 1, 0, x, x, y, "eps", 1}, "TypeError: eltwise_add: attrs: expected none, got 'eps'"},
		{"name without value", []any{gemm, 2, 1, 0, a, b, c, "alpha"}, "TypeError: gemm: attrs: expected a value for every name, got none for 'alpha'"},
		{"array too many", []any{gemm, 2, 1, 0, a, b, c, c}, "TypeError: gemm: attrs: expected str, got array"},
		{"name twice", []any{gemm, 2, 1, 0, a, b, c, "alpha", 1, "alpha", 2}, "TypeError: gemm: alpha: expected one value, got two"},
		{"name of an array", []any{gemm, 2, 1, 0, a, b, c, "bias", nil}, "TypeError: gemm: attrs: expected one of 'alpha', 'activation', 'out_dtype', got 'bias'"},
		{"required attribute", []any{"gelu", 1, 1, 0, x, y}, "TypeError: gelu: missing required argument 'approximate'"},
		{"None for a required attribute", []any{"gelu", 1, 1, 0, x, y, "approximate", nil}, "TypeError: gelu: approximate: expected str, got NoneType"},
		{"None for a default", []any{gemm, 2, 1, 0, a, b, c, "alpha", nil}, "TypeError: gemm: alpha: expected float, got NoneType"},
		{"text for float", []any{gemm, 2, 1, 0, a, b, c, "alpha", "1"}, "TypeError: gemm: alpha: expected float, got str"},
		{"bool for float", []any{gemm, 2, 1, 0, a, b, c, "alpha", true}, "TypeError: gemm: alpha: expected float, got bool"},
		{"float for int", []any{conv, 2, 1, 0, image, filter, out, "groups", 1.0}, "TypeError: conv2d: groups: expected int, got float"},
		{"unknown choice", []any{gemm, 2, 1, 0, a, b, c, "activation", "gelu"}, "ValueError: gemm: activation: expected one of 'none', 'relu', 'silu', got 'gelu'"},
		{"list of three", []any{conv, 2, 1, 0, image, filter, out, "stride", []int64{1, 1, 1}}, "ValueError: conv2d: stride: expected 2 integers, got 3"},
		{"empty list", []any{conv, 2, 1, 0, image, filter, out, "stride", []int64{}}, "ValueError: conv2d: stride: expected 2 integers, got 0"},
		{"float for a list", []any{conv, 2, 1, 0, image, filter, out, "stride", 1.5}, "TypeError: conv2d: stride: expected 2 integers, got float"},
		{"text for a list", []any{conv, 2, 1, 0, image, filter, out, "stride", "11"}, "TypeError: conv2d: stride: expected 2 integers, got str"},
		{"zero in a list", []any{conv, 2, 1, 0, image, filter, out, "stride", []int64{1, 0}}, "ValueError: conv2d: stride: expected at least 1, got 0"},

		{"another dtype than the output's", []any{gemm, 2, 1, 0, a, b, c, "out_dtype", "float16"}, "TypeError: gemm: c: expected dtype float16 (as out_dtype), got float32"},
		{"op's own error first", []any{gemm, 2, 1, 0, a, a, c, "out_dtype", "float16"}, "ValueError: gemm: c: expected shape [2, 2], got shape [2, 4]"},
		{"dtype that is not allowed", []any{gemm, 2, 1, 0, a, b, c, "out_dtype", "int32"}, "TypeError: gemm: out_dtype: expected dtype float32, float16 or bfloat16, got int32"},
		{"no name of a dtype", []any{gemm, 2, 1, 0, a, b, c, "out_dtype", "f33"}, "TypeError: gemm: out_dtype: expected dtype float32, float16 or bfloat16, got str"},
		{"int for a dtype", []any{gemm, 2, 1, 0, a, b, c, "out_dtype", 2}, "TypeError: gemm: out_dtype: expected dtype float32, float16 or bfloat16, got int"},
		{"one saved output of two", []any{"layernorm2d", 3, 2, 0, x, opcallFloats(2), opcallFloats(2), y, opcallFloats(2)}, "ValueError: layernorm2d: rstd: expected an array (as mean), got None"},
	}
	for _, test := range cases {
		t.Run(test.name, func(t *testing.T) {
			_, err := library.Call("_opcast_op_call", test.args...)
			if got := opcallText(t, err); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// Structs that no framework makes: null pointers, wild ranks, sizes that no memory has.
func TestOpCallMalformed(t *testing.T) {
	library := opcallOpen(t)
	elements, shape, huge := make([]float32, 8), []int64{2, 2}, []int64{math.MaxInt64, math.MaxInt64}
	tensor := func(rank int32, shape *int64) *tvmffi.DLTensor {
		return &tvmffi.DLTensor{Data: unsafe.Pointer(&elements[0]), Device: tvmffi.CPU, Rank: rank, DType: tvmffi.Float32, Shape: shape}
	}
	empty := tensor(2, &shape[0])
	empty.Data = nil
	odd := tensor(2, &shape[0])
	odd.ByteOffset = 2
	far := tensor(2, &shape[0])
	far.Device = tvmffi.Device{Type: 2, ID: -7}
	strange := tensor(2, &shape[0])
	strange.DType = tvmffi.DType{Code: 99, Bits: 3, Lanes: 7}
	negative := []int64{-1, 2}
	cases := []struct {
		name string
		x    any
		want string
	}{
		{"null tensor", tvmffi.Any{Type: tvmffi.TypeDLTensor}, "TypeError: eltwise_relu: x: expected DLPack tensor, got array"},
		{"null data", empty, "ValueError: eltwise_relu: x: expected data, got a null pointer"},
		{"null shape", tensor(2, nil), "ValueError: eltwise_relu: x: expected a shape, got a null pointer"},
		{"negative rank", tensor(-3, &shape[0]), "ValueError: eltwise_relu: x: expected at least 0 dimensions, got -3"},
		{"huge dims", tensor(2, &huge[0]), "ValueError: eltwise_relu: x: expected fewer elements than 2^63, got shape [9223372036854775807, 9223372036854775807]"},
		{"negative dim", tensor(2, &negative[0]), "ValueError: eltwise_relu: x: expected no negative size, got shape [-1, 2]"},
		{"odd address", odd, "ValueError: eltwise_relu: x: expected memory aligned to 4 bytes, got an address between"},
		{"strange dtype", strange, "TypeError: eltwise_relu: x: expected dtype float32, float16 or bfloat16, got unknown"},
		{"far device", far, "ValueError: eltwise_relu: x: expected a device number from 0 to 4095, got -7"},
		{"unknown type of value", tvmffi.Any{Type: 63, Bits: 1}, "TypeError: eltwise_relu: x: expected DLPack tensor, got object"},
		{"null string", tvmffi.Any{Type: 8}, "TypeError: eltwise_relu: x: expected DLPack tensor, got str"},
	}
	for _, test := range cases {
		t.Run(test.name, func(t *testing.T) {
			_, err := library.Call("_opcast_op_call", "eltwise_relu", 1, 1, 0, test.x, opcallFloats(2, 2))
			if got := opcallText(t, err); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
	for name, null := range map[string]tvmffi.Any{"raw": {Type: 8}, "bytes": {Type: tvmffi.TypeBytes}} {
		for place, args := range map[string][]any{
			"kind": {null, 0, 0, 0}, "name": {"gelu", 0, 0, 0, null, 1}, "value": {"gelu", 1, 1, 0, opcallFloats(2), opcallFloats(2), "approximate", null},
		} {
			t.Run(name+" null "+place, func(t *testing.T) {
				if _, err := library.Call("_opcast_op_call", args...); opcallText(t, err) == "" {
					t.Error("a null string went through")
				}
			})
		}
	}
}

// op_call runs what the export runs, and counts as it does.
func TestOpCallDispatch(t *testing.T) {
	library := opcallOpen(t)
	calls := func() any {
		n, err := library.Call("_opcast_calls", "gemm")
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	a, b := tvmffi.Of([]float32{1, 2, 3, 4}, tvmffi.Float32, 2, 2), tvmffi.Of([]float32{5, 6, 7, 8}, tvmffi.Float32, 2, 2)
	direct, flat := make([]float32, 4), make([]float32, 4)
	before := calls().(int64)
	if _, err := library.Call("gemm", tvmffi.Of(direct, tvmffi.Float32, 2, 2), a, b, nil, 1.0, "none", nil); err != nil {
		t.Fatal(err)
	}
	out := tvmffi.Of(flat, tvmffi.Float32, 2, 2)
	if err := library.OpCall(tvmffi.OpCall{Kind: 2, Inputs: []*tvmffi.Tensor{a, b}, Outputs: []*tvmffi.Tensor{out}}); err != nil {
		t.Fatal(err)
	}
	if [4]float32(direct) != [4]float32(flat) || flat[0] != 17 {
		t.Errorf("the export gives %v, op_call %v", direct, flat)
	}
	if after := calls().(int64); after != before+2 {
		t.Errorf("%d calls were counted, want 2", after-before)
	}
	if _, err := library.Call("_opcast_force", "gemm", "gemm_naive"); err != nil {
		t.Fatal(err)
	}
	if _, err := library.Call("_opcast_op_call", "gemm", 2, 1, 0, a, b, out); err != nil {
		t.Error(err)
	}
	if _, err := library.Call("_opcast_force", "gemm", ""); err != nil {
		t.Fatal(err)
	}
}
