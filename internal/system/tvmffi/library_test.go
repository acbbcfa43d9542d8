package tvmffi

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"github.com/opcast/opcast/internal/build/pyenv"
)

// library compiles the test's library and loads it.
func library(t *testing.T) *Library {
	t.Helper()
	python := os.Getenv("OPCAST_TEST_PYTHON")
	if python == "" {
		t.Skip("OPCAST_TEST_PYTHON names no Python: run make test")
	}
	env, err := pyenv.Find(t.Context(), pyenv.Query{Python: python, Getenv: os.Getenv})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "library.so")
	cmd := exec.CommandContext(t.Context(), "cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC",
		"-isystem", env.TVMInclude, "-o", path, filepath.Join("testdata", "library.c"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, out)
	}
	l, err := Open(env.TVMLibrary, path)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestEcho(t *testing.T) {
	l := library(t)
	long := strings.Repeat("long enough for memory of its own ", 20)
	cases := []struct{ arg, want any }{
		{nil, nil}, {true, true}, {false, false}, {7, int64(7)}, {int64(-1) << 63, int64(-1) << 63}, {2.5, 2.5},
		{"", ""}, {"short", "short"}, {long, long}, {"nul \x00 inside", "nul \x00 inside"},
		{(*Tensor)(nil), nil}, {(*DLTensor)(nil), nil}, {(*Object)(nil), nil}, {Any{Type: TypeInt, Bits: 3}, int64(3)},
	}
	for _, c := range cases {
		t.Run(fmt.Sprintf("%T(%.20v)", c.arg, c.arg), func(t *testing.T) {
			got, err := l.Call("echo", c.arg)
			if err != nil || !cmp.Equal(got, c.want) {
				t.Errorf("got %#v %v, want %#v", got, err, c.want)
			}
		})
	}
}

func TestTypes(t *testing.T) {
	l := library(t)
	x := Of([]float32{1}, Float32, 1)
	got, err := l.Call("types", nil, 1, true, 1.5, "s", x, []int64{1}, []int64{}, Any{Type: 6})
	if want := "abcdihhhg"; err != nil || got != want {
		t.Errorf("got %v %v, want %v", got, err, want)
	}
	if got, err := l.Call("types"); err != nil || got != "" {
		t.Errorf("no arguments: got %v %v", got, err)
	}
}

func TestTensors(t *testing.T) {
	l := library(t)
	values := []int64{1, 2, 3, 4}
	backwards := &Tensor{Data: unsafe.Pointer(&values[0]), DType: Int64, Shape: []int64{3}, Strides: []int64{-1}, ByteOffset: 8}
	raw := &DLTensor{Data: unsafe.Pointer(&values[0]), Device: CPU, DType: Int64}
	for name, c := range map[string]struct {
		arg  any
		want int64
	}{
		"dense":   {Of(values, Int64, 2, 2), 10},
		"list":    {values, 10},
		"strides": {backwards, -9},
		"rank 0":  {Of(values, Int64), 1},
		"raw":     {raw, 1},
		"empty":   {[]int64{}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := l.Call("sum", c.arg); err != nil || got != c.want {
				t.Errorf("got %v %v, want %d", got, err, c.want)
			}
		})
	}
	x := &Tensor{DType: DType{4, 16, 1}, Device: Device{2, 3}}
	if got, err := l.Call("kind", x); err != nil || got != int64(416010203) {
		t.Errorf("kind: got %v %v", got, err)
	}
	if got, err := l.Call("kind", Of(values, Int64, 4)); err != nil || got != int64(64010100) {
		t.Errorf("kind on the CPU: got %v %v", got, err)
	}
}

func TestErrors(t *testing.T) {
	l := library(t)
	for _, text := range []string{"", "op: x: expected one thing, got another", strings.Repeat("long ", 1000)} {
		_, err := l.Call("fail", text)
		if want := (&Error{"ValueError", text}); !sameError(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	}
	if _, err := l.Call("silent"); !sameError(err, &Error{"RuntimeError", "a call failed and raised nothing"}) {
		t.Errorf("silent: got %v", err)
	}
	if _, err := l.Call("missing"); err == nil || !strings.Contains(err.Error(), "__tvm_ffi_missing") {
		t.Errorf("missing: got %v", err)
	}
	if _, err := l.Call("echo", 1, struct{}{}); err == nil || err.Error() != "argument 1: expected a value that tvm-ffi has, got struct {}" {
		t.Errorf("wrong value: got %v", err)
	}
}

func sameError(err error, want *Error) bool {
	var got *Error
	return errors.As(err, &got) && *got == *want
}

func TestOpenErrors(t *testing.T) {
	if _, err := Open("/nonexistent/libtvm_ffi.so", ""); err == nil || !strings.Contains(err.Error(), "load tvm-ffi: /nonexistent") {
		t.Errorf("got %v", err)
	}
}

// A result that is an object goes back into calls, and its owner releases it.
func TestObject(t *testing.T) {
	l := library(t)
	made, err := l.Call("object")
	if err != nil {
		t.Fatal(err)
	}
	object := made.(*Object)
	defer object.Release()
	for range 3 {
		again, err := l.Call("echo", object)
		if err != nil {
			t.Fatal(err)
		}
		other, isObject := again.(*Object)
		if !isObject || other.Type != object.Type || other.address != object.address {
			t.Fatalf("got %#v", again)
		}
		other.Release()
	}
}

// Each thread gets the error of its own call, and memory stays in place while the collector runs.
func TestThreads(t *testing.T) {
	l := library(t)
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for j := range 200 {
				text := fmt.Sprintf("%d-%d", i, j)
				if _, err := l.Call("fail", text); !sameError(err, &Error{"ValueError", text}) {
					t.Errorf("got %v, want %s", err, text)
				}
				if got, err := l.Call("sum", []int64{int64(i), int64(j)}); err != nil || got != int64(i+j) {
					t.Errorf("got %v %v", got, err)
				}
			}
		})
	}
	for range 20 {
		runtime.GC()
	}
	group.Wait()
}
