package runner

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/ndarray"
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
		TVMLibrary: "/a b/libtvm_ffi.so", Library: "lib.so", Op: "scale", Kernel: "k", DeviceType: 2, DeviceID: 1, Repeat: 3, Guarded: true,
		Arguments: []any{
			Array{float32s(t, 2, 1), "y", Out}, Array{x, "x", In}, nil, Array{float32s(t), "z", InOut}, int64(-3), true, 1e-300, "a b", []int64{2, -1},
			[]int64{}, Array{float32s(t, 0), "part", Scratch},
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
	want := "tvm_ffi /a b/libtvm_ffi.so\nlibrary lib.so\nop scale\nkernel k\nrepeat 3\nguards 1\nhollow 0\ndevice 2 1\n" +
		"data DIR/inputs.bin\nresults DIR/results.bin\n" +
		"array y out 2 32 2 1\narray x in 2 32 2 1\nnone\narray z inout 2 32\nint -3\nbool 1\nfloat 1e-300\nstr 612062\nints 2 -1\nints\narray part scratch 2 32 0\n"
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
	c := Call{Arguments: []any{Array{float32s(t, 2), "y", Out}, Array{float32s(t, 5), "x", In}, nil, Array{float32s(t), "z", InOut}}}
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
	const timed = "\nnoise\ncall\noutside x -4\noutside x 8\ntime 0.25 1e-06\n"
	c := Call{Arguments: []any{Array{float32s(t, 2), "x", Out}}}
	want := Timing{Kernel: "gemm_naive", Median: seconds(0.25), Fastest: seconds(1e-6), Outside: []string{
		"x: written out of bounds: byte -4 lies before its start",
		"x: written out of bounds: byte 8 lies behind its end, float32[2] has 8 bytes",
	}}
	for _, kernels := range []string{
		"kernel gemm_naive",
		`kernels [{"name":"gemm_cuda","device":"cuda","reason":"is for cuda"},{"name":"gemm_naive","device":"cpu","reason":""}]`,
	} {
		calls := 0
		got, err := c.read(strings.NewReader(kernels+timed), func() { calls++ })
		if diff := cmp.Diff(want, got); err != nil || diff != "" || calls != 1 {
			t.Errorf("%s: %v, %d calls (-want +got):\n%s", kernels, err, calls, diff)
		}
	}
	if _, err := c.read(strings.NewReader("kernels gemm_naive\n"), func() {}); err == nil {
		t.Error("what is no JSON was read")
	}
}

// What the program tells of a fault, in words.
func TestFault(t *testing.T) {
	c := Call{Library: "lib.so", Advice: "look closer", Arguments: []any{Array{float32s(t, 2, 3), "y", Out}, Array{float32s(t, 5), "x", In}}}
	for text, want := range map[string]string{
		"fault 1 y 24":    "wrote out of bounds of y: byte 24 lies behind its end, float32[2, 3] has 24 bytes",
		"fault 0 x -8":    "read out of bounds of x: byte -8 lies before its start",
		"fault -1 y 4096": "touched out of bounds of y: byte 4096 lies behind its end, float32[2, 3] has 24 bytes",
		"fault 1 x 12":    "wrote to x, which is an input: byte 12, element [3]",
		"fault Aborted\nframe 16 /usr/lib/x.so.1": "ended its process: Aborted",
		"fault Aborted\nframe 16 lib.so":          "ended its process: Aborted; it was here, innermost first:\n  lib.so+0x10\n  look closer",
	} {
		if got := c.fault(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
