package run

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/testkit/fake"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/system/rpc"
)

// plantedPlaces are mutants of where arrays lie, and of what a call does beside computing: each check named must fail.
var plantedPlaces = map[string]struct {
	op, caller, check string
	fake              fake.Framework
}{
	"an input is copied":         {"affine", "fake", "not-copied", fake.Framework{After: note("seen", func(v any) any { return shifted(v, 1) })}},
	"a given output is copied":   {"affine", "fake", "not-copied", fake.Framework{After: note("seen", func(v any) any { return shifted(v, 0) })}},
	"the library copies":         {"accumulate", calls.BackendName, "not-copied", fake.Framework{After: note("seen", func(v any) any { return shifted(v, 2) })}},
	"no kernel runs":             {"affine", "fake", "not-copied", fake.Framework{After: note("seen", func(any) any { return []any{} })}},
	"watching raises":            {"affine", "fake", "not-copied", fake.Framework{After: raise(check.GroupWatch + ".pointers")}},
	"another place, other bits":  {"affine", "fake", "misaligned", fake.Framework{After: when(func(c *calls.Call) bool { return x(c).Offset == 1 })}},
	"another place, an error":    {"affine", "fake", "misaligned", fake.Framework{After: errorWhen(func(c *calls.Call) bool { return x(c).Offset == 1 })}},
	"a moved output runs over":   {"affine", calls.BackendName, "misaligned", fake.Framework{After: func(c *calls.Call, r *calls.Result) { scribble(c, r, -1) }}},
	"results follow the strides": {"affine", "fake", "output-strides", fake.Framework{After: followStrides}},
	"32 bits for rows":           {"affine", "fake", "far-apart", fake.Framework{After: when(func(c *calls.Call) bool { return c.Probe == check.GroupWatch+".far" })}},
	"far rows crash": {"affine", "fake", "far-apart", fake.Framework{Before: func(c *calls.Call) (*calls.Result, error) {
		if c.Probe == check.GroupWatch+".far" {
			return nil, &rpc.CrashError{Reason: "signal: segmentation fault"}
		}
		return nil, nil
	}}},
	"dense memory is not asked for": {"affine", calls.BackendName, "far-apart", fake.Framework{After: func(c *calls.Call, r *calls.Result) {
		if c.Probe == check.GroupWatch+".far" {
			r.Error = nil
		}
	}}},
	"a call warns": {"affine", "fake", "warnings", fake.Framework{After: note("warnings", func(any) any {
		return []any{[]any{"UserWarning", "slow", false}}
	})}},
	"numbers are off":          {"move", "fake", "numbers", fake.Framework{After: when(hasNumber)}},
	"a scalar of NumPy is off": {"move", "fake", "numbers", fake.Framework{After: when(hasNumPyNumber)}},
	"a wrong number computes":  {"move", "fake", "numbers", fake.Framework{After: computing}},
	"low values compute":       {"ragged", "fake", "contents-refused", fake.Framework{Before: ignoreContents("at least")}},
	"high values compute":      {"ragged", "fake", "contents-refused", fake.Framework{Before: ignoreContents("at most")}},
	"descending ones compute":  {"ragged", "fake", "contents-refused", fake.Framework{Before: ignoreContents("ascending")}},
	"right contents are refused": {"ragged", "fake", "contents-refused", fake.Framework{After: onRight(func(r *calls.Result) {
		r.Error = &calls.CallError{Class: "ValueError", Text: "ragged: indptr: expected ascending values, got 1 after 2"}
	})}},
	"a device is forgotten": {"affine", "fake", "devices", fake.Framework{After: func(c *calls.Call, r *calls.Result) {
		r.Notes = map[string]any{"on the second device": false}
	}}},
}

func TestPlantedPlacesAreFound(t *testing.T) {
	for name, planted := range plantedPlaces {
		t.Run(name, func(t *testing.T) {
			caller := planted.fake
			caller.CallerName = planted.caller
			if status := fakeRunOf(t, planted.op, planted.check, &caller, nil); !strings.Contains(status, "fail: ") {
				t.Error(status)
			}
		})
	}
}

// note changes a note of a probe.
func note(key string, change func(any) any) func(*calls.Call, *calls.Result) {
	return func(_ *calls.Call, r *calls.Result) {
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
func raise(probe string) func(*calls.Call, *calls.Result) {
	return errorWhen(func(c *calls.Call) bool { return c.Probe == probe })
}

func errorWhen(test func(*calls.Call) bool) func(*calls.Call, *calls.Result) {
	return func(c *calls.Call, r *calls.Result) {
		if r.Error == nil && test(c) {
			r.Error = &calls.CallError{Class: "RuntimeError", Text: "no"}
		}
	}
}

// followStrides lets results have the strides of an input that is not dense.
func followStrides(c *calls.Call, r *calls.Result) {
	if first := x(c); !first.IsDense() {
		each(r, func(o *calls.Output) { o.Strides = first.Strides })
	}
}

// ignoreContents computes what a library that looks at contents refuses in these words.
func ignoreContents(words string) func(*calls.Call) (*calls.Result, error) {
	return func(call *calls.Call) (*calls.Result, error) {
		text := fake.ContentsError(fake.CaseOf(call), true)
		if !strings.Contains(text, words) {
			return nil, nil
		}
		harmless := call.Clone()
		for i, v := range harmless.Inputs {
			if x := v.(*calls.Tensor); i > 0 {
				zeros := x.Dense()
				clear(zeros.Data)
				harmless.Inputs[i] = &calls.Tensor{Array: zeros}
			}
		}
		return (&fake.Framework{CallerName: "fake"}).Answer(harmless), nil
	}
}

// A deprecated op that does not say so, and one that has no kernel for the device and computes, are found.
func TestPlantedOps(t *testing.T) {
	for name, test := range map[string]struct {
		check  string
		change func(*opdef.Op)
		fake   fake.Framework
		want   string
	}{
		"says it":           {"warnings", deprecate, fake.Framework{}, "pass"},
		"says nothing":      {"warnings", deprecate, fake.Framework{After: note("warnings", func(any) any { return []any{} })}, "fail: "},
		"says it elsewhere": {"warnings", deprecate, fake.Framework{After: note("warnings", elsewhere)}, "fail: "},
		"refuses":           {"no-kernel", onlyCUDA, fake.Framework{After: missingKernel}, "pass"},
		"computes anyway":   {"no-kernel", onlyCUDA, fake.Framework{}, "fail: "},
	} {
		t.Run(name, func(t *testing.T) {
			op := *fake.ToyOp(t, "affine")
			test.change(&op)
			caller := test.fake
			caller.CallerName = "fake"
			s := &Runner{Env: &check.Environment{Project: fake.Toy(t), Device: "cpu", Oracle: fakeOracle{}, Callers: []calls.Caller{&caller}}}
			for _, check := range Checks() {
				if check.ID != test.check {
					continue
				}
				for _, r := range s.run(t.Context(), &op, &caller, &check) {
					if got := string(r.Status) + ": " + r.Reason; !strings.HasPrefix(got, test.want) {
						t.Error(got)
					}
				}
			}
		})
	}
}

func deprecate(op *opdef.Op) { op.Deprecated = "use norm; removed in 0.5" }

func onlyCUDA(op *opdef.Op) {
	op.Kernels = []opdef.Kernel{{Name: "affine_cuda", Devices: []string{"cuda"}}}
}

func missingKernel(_ *calls.Call, r *calls.Result) {
	r.Error = &calls.CallError{Class: "NotImplementedError", Text: "affine: no kernel for device cpu, available: cuda"}
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
			p := *fake.Toy(t)
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
			status := fakeRunOf(t, "affine", "abi", &fake.Framework{CallerName: "fake"}, func(e *check.Environment) {
				e.Project = &p
				e.Callers = []calls.Caller{symbolTeller{&fake.Framework{CallerName: calls.BackendName}, file}}
			})
			if !strings.HasPrefix(status, test.want) {
				t.Errorf("got %s, want %s", status, test.want)
			}
		})
	}
}

// symbolTeller is a caller that tells which library provides symbols.
type symbolTeller struct {
	*fake.Framework
	tvm string
}

func (c symbolTeller) Info() calls.WorkerInfo { return calls.WorkerInfo{TVM: c.tvm} }

func (c symbolTeller) Call(ctx context.Context, call *calls.Call) (*calls.Result, error) {
	return c.Framework.Call(ctx, call)
}

func hasNumber(call *calls.Call) bool {
	_, is := call.Inputs[1].(float64)
	return is
}

func hasNumPyNumber(call *calls.Call) bool {
	_, is := call.Inputs[1].(calls.NumPyNumber)
	return is
}

// computing has no error for a bool.
func computing(call *calls.Call, r *calls.Result) {
	if _, is := call.Inputs[1].(bool); is {
		r.Error = nil
	}
}
