package runner

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opcast/opcast/internal/dtype"
	"github.com/opcast/opcast/internal/ndarray"
)

func float32s(t *testing.T, shape ...int64) *ndarray.Array {
	t.Helper()
	d, known := dtype.Lookup("f32")
	if !known {
		t.Fatal("no f32")
	}
	return ndarray.New(d, shape)
}

// The file holds a line per argument, in the order of the export, and the bytes of what the call reads.
func TestWrite(t *testing.T) {
	dir, x := t.TempDir(), float32s(t, 2, 1)
	x.Data[0] = 7
	c := Call{
		TVMLibrary: "/a b/libtvm_ffi.so", Library: "lib.so", Op: "scale", Kernel: "k", DeviceType: 2, DeviceID: 1, Repeat: 3,
		Arguments: []any{
			Array{float32s(t, 2, 1), Out}, Array{x, In}, nil, Array{float32s(t), InOut}, int64(-3), true, 1e-300, "a b", []int64{2, -1},
			[]int64{}, Array{float32s(t, 0), Scratch},
		},
	}
	if got := c.Moved(); got != 8+8+2*4 {
		t.Errorf("%d bytes moved, want 24: scratch does not count, what is overwritten does twice", got)
	}
	path, err := c.Write(dir)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := "tvm_ffi /a b/libtvm_ffi.so\nlibrary lib.so\nop scale\nkernel k\nrepeat 3\ndevice 2 1\n" +
		"data DIR/inputs.bin\nresults DIR/results.bin\n" +
		"array out 2 32 2 1\narray in 2 32 2 1\nnone\narray inout 2 32\nint -3\nbool 1\nfloat 1e-300\nstr 612062\nints 2 -1\nints\narray scratch 2 32 0\n"
	if diff := cmp.Diff(want, strings.ReplaceAll(string(text), dir, "DIR")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	data, err := os.ReadFile(filepath.Join(dir, inputsFile))
	if err != nil || len(data) != 12 || data[0] != 7 {
		t.Errorf("inputs: got %v, %v", data, err)
	}
	if _, err := (&Call{Arguments: []any{struct{}{}}}).Write(dir); err == nil {
		t.Error("an argument of no type was written")
	}
}

// Results are the outputs and the overwritten inputs; a file that is too short is an error.
func TestResults(t *testing.T) {
	dir := t.TempDir()
	c := Call{Arguments: []any{Array{float32s(t, 2), Out}, Array{float32s(t, 5), In}, nil, Array{float32s(t), InOut}}}
	write := func(bytes int) {
		if err := os.WriteFile(filepath.Join(dir, resultsFile), []byte(strings.Repeat("\x01", bytes)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(12)
	got, err := c.Results(dir)
	if err != nil || len(got) != 2 || got[0].Len() != 2 || got[1].Len() != 1 || got[1].Data[3] != 1 {
		t.Errorf("got %v, %v", got, err)
	}
	write(11)
	if _, err := c.Results(dir); err == nil || !strings.Contains(err.Error(), "cut short") {
		t.Errorf("11 of 12 bytes: got %v", err)
	}
}

func TestRead(t *testing.T) {
	const timed = "\nnoise\ntime 0.25 1e-06\n"
	want := Timing{"gemm_naive", seconds(0.25), seconds(1e-6)}
	for _, kernels := range []string{
		"kernel gemm_naive",
		`kernels [{"name":"gemm_cuda","device":"cuda","reason":"is for cuda"},{"name":"gemm_naive","device":"cpu","reason":""}]`,
	} {
		if got, err := read(strings.NewReader(kernels + timed)); err != nil || got != want {
			t.Errorf("%s: got %v %v, want %v", kernels, got, err, want)
		}
	}
	if _, err := read(strings.NewReader("kernels gemm_naive\n")); err == nil {
		t.Error("what is no JSON was read")
	}
}
