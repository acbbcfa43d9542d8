package conformance

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/rpc"
)

// plantedPlaces are mutants of where arrays lie, and of what a call does beside computing: each check named must fail.
var plantedPlaces = map[string]struct {
	op, caller, check string
	fake              fake
}{
	"an input is copied":         {"affine", "fake", "not-copied", fake{after: note("seen", func(v any) any { return shifted(v, 1) })}},
	"a given output is copied":   {"affine", "fake", "not-copied", fake{after: note("seen", func(v any) any { return shifted(v, 0) })}},
	"the library copies":         {"accumulate", backendName, "not-copied", fake{after: note("seen", func(v any) any { return shifted(v, 2) })}},
	"no kernel runs":             {"affine", "fake", "not-copied", fake{after: note("seen", func(any) any { return []any{} })}},
	"watching raises":            {"affine", "fake", "not-copied", fake{after: raise(groupWatch + ".pointers")}},
	"another place, other bits":  {"affine", "fake", "misaligned", fake{after: when(func(c *Call) bool { return x(c).Offset == 1 })}},
	"another place, an error":    {"affine", "fake", "misaligned", fake{after: errorWhen(func(c *Call) bool { return x(c).Offset == 1 })}},
	"a moved output runs over":   {"affine", backendName, "misaligned", fake{after: func(c *Call, r *Result) { scribble(c, r, -1) }}},
	"results follow the strides": {"affine", "fake", "output-strides", fake{after: followStrides}},
	"32 bits for rows":           {"affine", "fake", "far-apart", fake{after: when(func(c *Call) bool { return c.Probe == groupWatch+".far" })}},
	"far rows crash": {"affine", "fake", "far-apart", fake{before: func(c *Call) (*Result, error) {
		if c.Probe == groupWatch+".far" {
			return nil, &rpc.CrashError{Reason: "signal: segmentation fault"}
		}
		return nil, nil
	}}},
	"dense memory is not asked for": {"affine", backendName, "far-apart", fake{after: func(c *Call, r *Result) {
		if c.Probe == groupWatch+".far" {
			r.Error = nil
		}
	}}},
	"a call warns": {"affine", "fake", "warnings", fake{after: note("warnings", func(any) any {
		return []any{[]any{"UserWarning", "slow", false}}
	})}},
	"low values compute":      {"ragged", "fake", "contents-refused", fake{before: blind("at least")}},
	"high values compute":     {"ragged", "fake", "contents-refused", fake{before: blind("at most")}},
	"descending ones compute": {"ragged", "fake", "contents-refused", fake{before: blind("ascending")}},
	"right contents are refused": {"ragged", "fake", "contents-refused", fake{after: onRight(func(r *Result) {
		r.Error = &CallError{Class: "ValueError", Text: "ragged: indptr: expected ascending values, got 1 after 2"}
	})}},
	"a device is forgotten": {"affine", "fake", "devices", fake{after: func(c *Call, r *Result) {
		r.Notes = map[string]any{"on the second device": false}
	}}},
}

func TestPlantedPlacesAreFound(t *testing.T) {
	for name, fault := range plantedPlaces {
		t.Run(name, func(t *testing.T) {
			caller := fault.fake
			caller.name = fault.caller
			if status := fakeRunOf(t, fault.op, fault.check, &caller, nil); !strings.Contains(status, "fail: ") {
				t.Error(status)
			}
		})
	}
}

// note changes a note of a probe.
func note(key string, change func(any) any) func(*Call, *Result) {
	return func(_ *Call, r *Result) {
		if v, ok := r.Notes[key]; ok {
			r.Notes[key] = change(v)
		}
	}
}

// shifted changes an address of a list.
func shifted(list any, i int) any {
	out := append([]any{}, list.([]any)...)
	out[i] = out[i].(float64) + 64
	return out
}

// raise gives an error to the calls of a probe.
func raise(probe string) func(*Call, *Result) {
	return errorWhen(func(c *Call) bool { return c.Probe == probe })
}

func errorWhen(test func(*Call) bool) func(*Call, *Result) {
	return func(c *Call, r *Result) {
		if r.Error == nil && test(c) {
			r.Error = &CallError{Class: "RuntimeError", Text: "no"}
		}
	}
}

// followStrides lets results have the strides of an input that is not dense.
func followStrides(c *Call, r *Result) {
	if first := x(c); !first.IsDense() {
		each(r, func(o *Output) { o.Strides = first.Strides })
	}
}

// blind computes what a library that looks at contents refuses in these words.
func blind(words string) func(*Call) (*Result, error) {
	return func(call *Call) (*Result, error) {
		text := contentsFault(caseOf(call))
		if !strings.Contains(text, words) {
			return nil, nil
		}
		harmless := call.clone()
		for i, v := range harmless.Inputs {
			if x := v.(*Tensor); i > 0 {
				zeros := x.Dense()
				clear(zeros.Data)
				harmless.Inputs[i] = &Tensor{Array: zeros}
			}
		}
		return (&fake{name: "fake"}).answer(harmless), nil
	}
}

// A deprecated op that does not say so, and one that has no kernel for the device and computes, are found.
func TestPlantedOps(t *testing.T) {
	for name, test := range map[string]struct {
		check  string
		change func(*opdef.Op)
		fake   fake
		want   string
	}{
		"says it":           {"warnings", deprecate, fake{}, "pass"},
		"says nothing":      {"warnings", deprecate, fake{after: note("warnings", func(any) any { return []any{} })}, "fail: "},
		"says it elsewhere": {"warnings", deprecate, fake{after: note("warnings", elsewhere)}, "fail: "},
		"refuses":           {noKernelCheck.ID, onlyCUDA, fake{after: missingKernel}, "pass"},
		"computes anyway":   {noKernelCheck.ID, onlyCUDA, fake{}, "fail: "},
	} {
		t.Run(name, func(t *testing.T) {
			op := *toyOp(t, "affine")
			test.change(&op)
			caller := test.fake
			caller.name = "fake"
			s := &session{env: environment{project: toy(t), device: "cpu", oracle: fakeOracle{}, callers: []Caller{&caller}}}
			for _, check := range checks() {
				if check.ID != test.check {
					continue
				}
				for _, r := range s.run(t.Context(), &op, &caller, "", &check) {
					if got := string(r.Status) + ": " + r.Reason; !strings.HasPrefix(got, test.want) {
						t.Error(got)
					}
				}
			}
		})
	}
}

func deprecate(op *opdef.Op) { op.Deprecated = "use norm; removed in 0.5" }

func onlyCUDA(op *opdef.Op) { op.Kernels = []opdef.Kernel{{Name: "affine_cuda", Device: "cuda"}} }

func missingKernel(_ *Call, r *Result) {
	r.Error = &CallError{Class: "NotImplementedError", Text: "affine: no kernel for device cpu, available: cuda"}
}

func elsewhere(v any) any {
	list := v.([]any)
	return []any{append(append([]any{}, list[0].([]any)[:2]...), false)}
}

// A library is read as it was linked: names, exports and needs.
func TestABI(t *testing.T) {
	if _, err := exec.LookPath("c++"); err != nil {
		t.Skip("no C++ compiler")
	}
	const right = `extern "C" int __tvm_ffi_affine() { return 0; }`
	for name, test := range map[string]struct{ source, soname, want string }{
		"right":             {right, "libtoy.so", "pass"},
		"no entry point":    {`extern "C" int __tvm_ffi_other() { return 0; }`, "libtoy.so", "fail: libtoy.so: does not export __tvm_ffi_affine"},
		"exports more":      {right + ` extern "C" int helper() { return 0; }`, "libtoy.so", "fail: libtoy.so: exports beside __tvm_ffi_*: helper"},
		"another name":      {right, "libother.so", `fail: libtoy.so: calls itself "libother.so" (SONAME)`},
		"nobody defines it": {right + ` extern "C" int lost(); extern "C" int __tvm_ffi_x() { return lost(); }`, "libtoy.so", "fail: libtoy.so: uses, though nobody defines it: lost"},
	} {
		t.Run(name, func(t *testing.T) {
			p := *toy(t)
			p.Dir = t.TempDir()
			file := p.LibraryPath()
			in := filepath.Join(p.Dir, "lib.cc")
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(in, []byte(test.source), 0o644); err != nil {
				t.Fatal(err)
			}
			if text, err := exec.Command("c++", "-shared", "-fPIC", "-Wl,-soname,"+test.soname, "-o", file, in).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			status := fakeRunOf(t, "affine", "abi", &fake{name: "fake"}, func(e *environment) {
				e.project = &p
				e.callers = []Caller{telling{&fake{name: backendName}, file}}
			})
			if !strings.HasPrefix(status, test.want) {
				t.Errorf("got %s, want %s", status, test.want)
			}
		})
	}
}

// telling is a caller that tells which library provides symbols.
type telling struct {
	*fake
	tvm string
}

func (c telling) tells() greeting { return greeting{TVM: c.tvm} }

func (c telling) Call(ctx context.Context, call *Call) (*Result, error) {
	return c.fake.Call(ctx, call)
}
