package conformance

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opcast/opcast/internal/tvmffi"
)

// nativeRequest is a call as the process that calls from Go reads it.
func nativeRequest(t *testing.T, call *Call) *nativeCall {
	t.Helper()
	w, blobs := backendCall(call)
	text, err := json.Marshal(w)
	if err != nil {
		t.Fatal(err)
	}
	n := &nativeCall{blobs: blobs, arrays: map[int]*nativeArray{}}
	if n.wire, err = readWire(text); err != nil {
		t.Fatal(err)
	}
	return n
}

// raggedCall is the plain call of the ragged toy through a bare caller.
func raggedCall(t *testing.T) *Call {
	t.Helper()
	check := &T{Op: toyOp(t, "ragged"), Caller: &fake{name: nativeName}}
	c, err := newCase(check.Op, base(dtypes{"T": "f16"}))
	if err != nil {
		t.Fatal(err)
	}
	call, err := check.call(check.Caller, c)
	if err != nil {
		t.Fatal(err)
	}
	return call
}

// The arguments are in the order of the export, over the memory that was sent, and results are read from there.
func TestNativeArguments(t *testing.T) {
	call := raggedCall(t)
	n := nativeRequest(t, call)
	args, err := n.arguments()
	if err != nil {
		t.Fatal(err)
	}
	if len(args) != 6 { // y; x, scale, indptr; part, count
		t.Fatalf("%d arguments", len(args))
	}
	x := args[1].(*tvmffi.Tensor)
	want := call.Inputs[0].(*Tensor)
	if !slices.Equal(x.Shape, want.Shape) || x.DType != (tvmffi.DType{Code: 2, Bits: 16, Lanes: 1}) || *(*byte)(x.Data) != want.Data[0] {
		t.Errorf("x is %+v", x)
	}
	y := args[0].(*tvmffi.Tensor)
	if y.ByteOffset != guardElements*4 {
		t.Errorf("y begins at %d", y.ByteOffset)
	}
	reply := map[string]any{}
	blobs := n.results(reply, false)
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
		p := &packer{}
		text, err := json.Marshal(wireCall{Args: []tagged{p.value(test.given)}})
		if err != nil {
			t.Fatal(err)
		}
		w, err := readWire(text)
		if err != nil {
			t.Fatal(err)
		}
		got, err := (&nativeCall{}).value(w.Args[0])
		if err != nil || !cmp.Equal(got, test.want) {
			t.Errorf("%s: got %#v, %v", name, got, err)
		}
	}
	if _, err := (&nativeCall{}).value((&packer{}).value(Wrong{1})); !errors.Is(err, errInexpressible) {
		t.Errorf("a list of floats: %v", err)
	}
}

func TestMangle(t *testing.T) {
	x := tvmffi.Of([]float32{1, 2}, tvmffi.Float32, 2)
	for as, test := range map[string]func(args []any) bool{
		"":             func(args []any) bool { return len(args) == 2 && args[0] == x },
		mangleMissing:  func(args []any) bool { return len(args) == 1 },
		mangleTwice:    func(args []any) bool { return len(args) == 3 && args[1] == x },
		mangleNull:     func(args []any) bool { return args[0].(*tvmffi.Tensor).Data == nil && x.Data != nil },
		mangleNegative: func(args []any) bool { return args[0].(*tvmffi.Tensor).Shape[0] == -1 && x.Shape[0] == 2 },
		"a text":       func(args []any) bool { return args[0] == "nonsense" },
	} {
		options := (&packer{}).value(map[string]any{"at": int64(2), "as": as})
		if args := manglingOf(options).apply([]any{x, int64(7)}); !test(args) {
			t.Errorf("%q: %v", as, args)
		}
	}
}

func TestServeNativeNeedsLibraries(t *testing.T) {
	for config, want := range map[string]string{`{`: "unexpected end", `{"tvm": "/no/such.so"}`: "load tvm-ffi"} {
		if err := ServeNative(config, strings.NewReader(""), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", config, err)
		}
	}
}
