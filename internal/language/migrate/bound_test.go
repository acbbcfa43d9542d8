package migrate

import (
	"slices"
	"strings"
	"testing"
)

// TestBound: functions of one name are told apart, and what a draft says of an array is known, or marked.
func TestBound(t *testing.T) {
	const decls = "namespace lib { void Run(TensorView other, int64_t k) {} }\nTVM_FFI_DLL_EXPORT_TYPED_FUNC(second, lib::Run)"
	for _, tt := range []struct {
		name    string
		sources []Source
		// op is whose definition has these parts, lines of notes what is told.
		op          string
		parts, told []string
	}{
		{"a function of the file", []Source{{"a.cu", decls}, {"b.cu", "void Run(TensorView x, TensorView out) {}\nTVM_FFI_DLL_EXPORT_TYPED_FUNC(f, Run)"}}, "f",
			[]string{`name = "x"`, `name = "y"`}, nil},
		{"a function of a namespace", []Source{{"a.cu", decls}, {"b.cu", "namespace lib::two { void Run(TensorView x, TensorView out) {} }"},
			{"c.cu", "TVM_FFI_DLL_EXPORT_TYPED_FUNC(f, lib::two::Run)"}}, "f", []string{`name = "x"`, `name = "y"`}, nil},
		{"a namespace before the file", []Source{{"a.cu", "namespace one { void Run(TensorView x, TensorView out) {} }"}, {"b.cu", decls + "\nTVM_FFI_DLL_EXPORT_TYPED_FUNC(f, one::Run)"}}, "f",
			[]string{`name = "x"`, `name = "y"`}, nil},
		{"two namespaces of a file", []Source{{"a.cu", "namespace one { void Run(TensorView b, int64_t k) {} } namespace two { void Run(TensorView x, TensorView out) {} PYBIND11_MODULE(m, m) { m.def(\"f\", &Run); } }"}}, "f",
			[]string{`name = "b"`}, []string{`"f" is bound to Run, which is overloaded: read as in a.cu:1`}},
		{"the body of another namespace", []Source{{"a.h", "namespace one { void Run(TensorView x, TensorView out); }"}, {"b.cu", "namespace two { void Run(TensorView q, TensorView r) { q = r; } }"},
			{"c.cu", "TVM_FFI_DLL_EXPORT_TYPED_FUNC(f, one::Run)"}}, "f", []string{`name = "x"`, `name = "y"`}, nil},
		{"what follows a macro", []Source{{"a.h", "MK(h, float)\n[[nodiscard]] int f(float* y, const float* x, int n);"}}, "f", []string{`name = "x"`}, []string{"not read: MK(...)"}},
		{"macros without semicolons", []Source{{"a.h", "MK(g, float)\nMAKE_MORE(h, float)\nvoid f(float* y, const float* x, int n) { }\nMK(k, float)\nvoid l(float* y, const float* x, int n);"}}, "f",
			[]string{`name = "x"`}, []string{"not read: MK(...)", "not read: MAKE_MORE(...)"}},
		{"a macro before a function", []Source{{"a.h", "EXPORT(lib) void f(float* y, const float* x, int n);"}}, "f", []string{`name = "x"`}, []string{"not read: EXPORT(...)"}},
		{"a handle that is const", []Source{{"a.cu", "void Run(TensorView const& state, TensorView const& x, TensorView out) { go(state, x); }\nTVM_FFI_DLL_EXPORT_TYPED_FUNC(f, Run)"}}, "f",
			[]string{`doc = "Argument state of f." }, # decide: shape, dtype, read or written`}, nil},
		{"scales of results", []Source{{"a.cu", "Tensor Run(TensorView x, Optional<TensorView> output1_scales_scalar, Optional<TensorView> out) { return x; }\nTVM_FFI_DLL_EXPORT_TYPED_FUNC(f, Run)"}}, "f",
			[]string{`name = "output1_scales_scalar"`, "optional = true"}, nil},
		{"dtypes of results alone", []Source{{"a.h", "template <class O> void f(O* out, const float* x, int n); template void f<float>(float*, const float*, int); template void f<half>(half*, const float*, int);"}}, "f",
			[]string{`doc = "Argument y of f." }, # decide: shape, dtype`}, nil},
		{"kernels of other arrays", []Source{{"a.cu", "int64_t Plan(TensorView a, TensorView b) { return 0; }\nTVM_FFI_DLL_EXPORT_TYPED_FUNC(plan, Plan)"}, {"b.h", "void launch_plan(int* a, int* b, int* c, int n);"}}, "",
			nil, []string{"launch_plan: not read again"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			functions, notes := Read(tt.sources, Vocabulary{})
			drafts, _ := Drafts(functions, tt.sources, Project{Namespace: "demo_ops"})
			at := slices.IndexFunc(drafts, func(d Draft) bool { return d.Name == tt.op })
			if (at < 0) != (tt.op == "") {
				t.Fatalf("drafts %v", drafts)
			}
			for _, want := range tt.parts {
				if !strings.Contains(drafts[at].Definition, want) {
					t.Errorf("no %s in\n%s", want, drafts[at].Definition)
				}
			}
			for _, want := range tt.told {
				if !slices.ContainsFunc(notes, func(n Note) bool { return strings.HasPrefix(n.Text, want) }) {
					t.Errorf("not told: %s\n%v", want, notes)
				}
			}
		})
	}
}
