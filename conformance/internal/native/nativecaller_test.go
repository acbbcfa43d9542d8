package native_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/checks/random"
	"github.com/opcast/opcast/conformance/internal/native"
	"github.com/opcast/opcast/conformance/internal/testkit/fake"
	"github.com/opcast/opcast/internal/system/tvmffi"
)

// nativeRequest is a call as the process that calls from Go reads it.
func nativeRequest(t *testing.T, call *calls.Call) *native.Call {
	t.Helper()
	w, blobs := calls.BackendCall(call)
	text, err := json.Marshal(w)
	if err != nil {
		t.Fatal(err)
	}
	n := &native.Call{Blobs: blobs, Arrays: map[int]*native.Array{}}
	if n.Wire, err = native.ReadWire(text); err != nil {
		t.Fatal(err)
	}
	return n
}

// raggedCall is the plain call of the ragged toy through a bare caller.
func raggedCall(t *testing.T) *calls.Call {
	t.Helper()
	check := &check.T{Op: fake.ToyOp(t, "ragged"), Caller: &fake.Framework{CallerName: calls.NativeName}}
	c, err := cases.New(check.Op, cases.BasePlan(cases.DTypes{"T": "f16"}))
	if err != nil {
		t.Fatal(err)
	}
	call, err := check.PlainCall(check.Caller, c)
	if err != nil {
		t.Fatal(err)
	}
	return call
}

// The arguments are in the order of the export, over the memory that was sent, and results are read from there.
func TestNativeArguments(t *testing.T) {
	call := raggedCall(t)
	n := nativeRequest(t, call)
	args, err := n.Arguments()
	if err != nil {
		t.Fatal(err)
	}
	if len(args) != 6 { // y; x, scale, indptr; part, count
		t.Fatalf("%d arguments", len(args))
	}
	x := args[1].(*tvmffi.Tensor)
	want := call.Inputs[0].(*calls.Tensor)
	if !slices.Equal(x.Shape, want.Shape) || x.DType != (tvmffi.DType{Code: 2, Bits: 16, Lanes: 1}) || *(*byte)(x.Data) != want.Data[0] {
		t.Errorf("x is %+v", x)
	}
	y := args[0].(*tvmffi.Tensor)
	if y.ByteOffset != calls.GuardElements*4 {
		t.Errorf("y begins at %d", y.ByteOffset)
	}
	reply := map[string]any{}
	blobs := n.Results(reply, false)
	if size := 4 * y.Shape[0] * y.Shape[1]; int64(len(blobs[0])) != size || len(blobs) != 7 {
		t.Errorf("%d blobs, the first of %d bytes", len(blobs), len(blobs[0]))
	}
}

// Numbers of 64 bits arrive as they are; what Go cannot pass is no error of the call.
func TestNativeValues(t *testing.T) {
	for name, test := range map[string]struct{ given, want any }{
		"a large int": {int64(1)<<62 + 1, int64(1)<<62 + 1}, "a float": {0.1, 0.1}, "a bool": {true, true}, "a text": {"s", "s"},
		"a list": {[]int64{1 << 60, -1}, []int64{1 << 60, -1}}, "nothing": {nil, nil},
	} {
		p := &calls.Packer{}
		text, err := json.Marshal(calls.WireCall{Args: []calls.Tagged{p.Value(test.given)}})
		if err != nil {
			t.Fatal(err)
		}
		w, err := native.ReadWire(text)
		if err != nil {
			t.Fatal(err)
		}
		got, err := (&native.Call{}).Value(w.Args[0])
		if err != nil || !cmp.Equal(got, test.want) {
			t.Errorf("%s: got %#v, %v", name, got, err)
		}
	}
	if _, err := (&native.Call{}).Value((&calls.Packer{}).Value(calls.NumberList{1})); !errors.Is(err, native.ErrInexpressible) {
		t.Errorf("a list of floats: %v", err)
	}
}

func TestMangle(t *testing.T) {
	x := tvmffi.Of([]float32{1, 2}, tvmffi.Float32, 2)
	for as, test := range map[string]func(args []any) bool{
		"":                     func(args []any) bool { return len(args) == 2 && args[0] == x },
		random.CorruptMissing:  func(args []any) bool { return len(args) == 1 },
		random.CorruptTwice:    func(args []any) bool { return len(args) == 3 && args[1] == x },
		random.CorruptNull:     func(args []any) bool { return args[0].(*tvmffi.Tensor).Data == nil && x.Data != nil },
		random.CorruptNegative: func(args []any) bool { return args[0].(*tvmffi.Tensor).Shape[0] == -1 && x.Shape[0] == 2 },
		"a text":               func(args []any) bool { return args[0] == "nonsense" },
	} {
		options := (&calls.Packer{}).Value(map[string]any{"at": int64(2), "as": as})
		if args := random.CorruptionOf(options).Apply([]any{x, int64(7)}); !test(args) {
			t.Errorf("%q: %v", as, args)
		}
	}
}

func TestServeNeedsLibraries(t *testing.T) {
	for config, want := range map[string]string{`{`: "unexpected end", `{"tvm": "/no/such.so"}`: "load tvm-ffi"} {
		if err := native.Serve(config, strings.NewReader(""), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", config, err)
		}
	}
}
