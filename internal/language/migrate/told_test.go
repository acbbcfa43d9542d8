package migrate

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestTold: what is lost is told, and what is told is so.
func TestTold(t *testing.T) {
	long := strings.Repeat("a_very_long_name_", 6)
	for _, tt := range []struct {
		name, source string
		// drafts are names of ops with their devices, notes what is told beside decisions.
		drafts string
		notes  []string
	}{
		{"registered before it is declared", `TORCH_LIBRARY_IMPL(a, CUDA, m) { m.impl("a::f", &g); } TORCH_LIBRARY(a, m) { m.def("f.out(Tensor x) -> Tensor"); }`, "f:cuda", nil},
		{"two devices", `TORCH_LIBRARY(a, m) { m.def("f(Tensor x) -> Tensor"); m.impl("f", torch::kCPU, &g); m.impl("f", torch::kCUDA, &h); }`, "f:cpu",
			[]string{"f: drafted for cpu only, and registered for cuda, too"}},
		{"two functions", "void softmax_cpu(float* y, const float* x, int n); void softmax_gpu(float* y, const float* x, int n);", "softmax:cpu",
			[]string{"softmax_gpu: not read again: it and softmax_cpu of a.h:1 seem to be kernels of one op for two devices"}},
		{"a stream", "void f(float* y, const float* x, int n); void f(float* y, const float* x, int n, cudaStream_t s);", "f:cpu",
			[]string{"f: not read again: it and f of a.h:1 seem to be kernels of one op for two devices"}},
		{"an overload", "void f(float* y, const float* x, int n); void f(double* y, const double* x, int n);", "f:cpu",
			[]string{"f: not read again: a.h:1 has the same name; an overload"}},
		{"a launcher", "void f(float* y, const float* x, int n); void launch_f(double* y, const double* x, int n);", "f:cpu",
			[]string{"launch_f: not read again: it would be the op f, as f of a.h:1 is: rename one of them"}},
		{"a class", "struct S { int n; static void f(float* y, int n) { g(y); } static int h(int); void k(float*); };", "", []string{"not read: f is a function of a class"}},
		{"a qualified name", "void a::b::launch_q(float* y, const float* x, int n) { }", "", []string{"not read: a::b::launch_q: read the file that declares it"}},
		{"a declared one", "namespace b { void q(float* y, const float* x, int n); } void b::q(float* y, const float* x, int n) { }", "q:cpu", nil},
		{"a specialisation", "template <> void f<float>(float* y, int n) { }", "", []string{"not read: no file has the template of f"}},
		{"a template", "template <class T> void f(T* y, const T* x, int n); template <> void f<float>(float* y, const float* x, int n) { }", "f:cpu", nil},
		{"an arrow", `TORCH_LIBRARY(a, m) { m->def("f(Tensor x) -> Tensor"); }`, "f:cpu", nil},
		{"a chain", `TORCH_LIBRARY(a, m) { m.def("f(Tensor x) -> Tensor").def("g(Tensor x) -> Tensor").impl("g", torch::kCUDA, &k); }`, "f:cpu g:cuda", nil},
		{"a chain of pybind11", `at::Tensor g(at::Tensor x); PYBIND11_MODULE(a, m) { m.def("f", &g).def("h", &g); py::class_<P>(m, "P").def("k", &P::k).def("l", &P::l); }`,
			"f:cpu h:cpu", []string{`not read: def("k", &P::k): a method`, `not read: def("l", &P::l): a method`}},
		{"a chain of a class", `TORCH_LIBRARY(a, m) { m.class_<P>("P").def("g(Tensor x) -> Tensor"); }`, "", []string{"not read: m.class_: only def"}},
		{"an open brace", "namespace a { void f(float* y, const float* x, int n); void g() { ", "f:cpu", []string{"the { here has no counterpart"}},
		{"a brace too many", "void f(float* y, const float* x, int n); } ", "f:cpu", []string{"the } here has no counterpart"}},
		{"macros", `#define ONE \
  m.def("f", &g); \
  m.def("h", &g, "doc")
#define EACH(name, of) m.def(#name, &of)
#define BOTH(name) EACH(name, g); EACH(other, g)
at::Tensor g(at::Tensor x);
PYBIND11_MODULE(a, m) { ONE BOTH(k); MISSING; }`, "f:cpu h:cpu k:cpu other:cpu", []string{"not read: MISSING: read the file that defines this macro"}},
		{"a macro of a library", "#define DEF(name, schema) m.def(#name schema)\nTORCH_LIBRARY(a, m) { DEF(f, \"(Tensor x) -> Tensor\"); }", "f:cpu", nil},
		{"a macro that goes on", "#define R .def(\"f\", &g)\nat::Tensor g(at::Tensor x); PYBIND11_MODULE(a, m) { m R; }", "f:cpu", nil},
		{"a macro that names itself", "#define A(x) m.def(#x, &g); A(x) A(x)\nat::Tensor g(at::Tensor x); PYBIND11_MODULE(a, m) { A(f) }", "f:cpu", nil},
		{"a variadic macro", "#define R(name, ...) m.def(#name, &g, __VA_ARGS__)\n#define S(name, rest...) m.def(#name, &g, rest)\nat::Tensor g(at::Tensor x, float e);\n" +
			`PYBIND11_MODULE(a, m) { R(f, py::arg("x"), py::arg("e") = 1.0); S(h, "A doc."); S(k); }`, "f:cpu h:cpu k:cpu", nil},
		{"a macro that joins words", "#define R(name, type) m.def(#name \"_\" #type, &name##_##type)\nat::Tensor g_f32(at::Tensor x); PYBIND11_MODULE(a, m) { R(g, f32); }", "g_f32:cpu", nil},
		{"too few arguments", "#define R(name, type) m.def(#name, &type)\nPYBIND11_MODULE(a, m) { R(g); }", "", []string{"not read: R(...): it has 1 arguments here, and 2 where it is defined"}},
		{"a macro with two texts", "#ifdef A\n#define R(n) m.def(#n, &g)\n#else\n#define R(n) m.def(\"other_\" #n, &g)\n#endif\nat::Tensor g(at::Tensor x); PYBIND11_MODULE(a, m) { R(f); }",
			"f:cpu other_f:cpu", nil},
		{"HIP", `TORCH_LIBRARY(a, m) { m.def("f(Tensor x) -> Tensor"); m.impl("f", torch::kHIP, &g); }`, "f:rocm", nil},
		{"what pointers point to", "void f(q4* y, const q4* x); void h(Context* c, int n);", "", nil},
		{"what only reads", "void f(const float* x, int n);", "", nil},
		{"what a pointer points to", "void f(float* y, const block_q4_0* x, int n);", "", nil},
		{"long names", "void " + long + "a(float* y, const float* x, int n); void " + long + "b(float* y, const float* x, int n);", "op_averylongnameaverylongnameavery:cpu",
			[]string{long + "b: not read again: it would be the op op_averylongname"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sources := []Source{{"a.h", tt.source}}
			functions, notes := Read(sources, Vocabulary{})
			drafts, _ := Drafts(functions, sources, Project{Namespace: "demo_ops"})
			var got []string
			for _, d := range drafts {
				got = append(got, d.Name+":"+d.Device)
			}
			if strings.Join(got, " ") != tt.drafts || len(notes) != len(tt.notes) {
				t.Errorf("drafts %v, notes %v", got, notes)
			}
			for _, want := range tt.notes {
				if !slices.ContainsFunc(notes, func(n Note) bool { return strings.HasPrefix(n.Text, want) }) {
					t.Errorf("not told: %s\n%v", want, notes)
				}
			}
		})
	}
}

// TestInstances: a template is drafted for the dtypes that its instances name, in words as well.
func TestInstances(t *testing.T) {
	sources := []Source{{"a.h", "template <class T> void f(T* y, const T* x, int n); template void f<unsigned char>(unsigned char*, const unsigned char*, int);" +
		"template void f<unsigned int>(unsigned*, const unsigned*, int); template void f<long long>(long long*, const long long*, int);"}}
	functions, _ := Read(sources, Vocabulary{})
	drafts, _ := Drafts(functions, sources, Project{Namespace: "demo_ops"})
	if len(drafts) != 1 || !strings.Contains(drafts[0].Definition, `dtypes = { T = ["u8", "u32"] }`) {
		t.Errorf("got %v", drafts)
	}
}

// TestMacrosOfMacros: macros of which each names the one before twice are read to a limit, which is told.
func TestMacrosOfMacros(t *testing.T) {
	text := "#define A0(x) m.def(#x, &g);\n"
	for i := range 30 {
		text += fmt.Sprintf("#define A%d(x) A%d(x) A%[2]d(x)\n", i+1, i)
	}
	functions, notes := Read([]Source{{"a.h", text + "at::Tensor g(at::Tensor x); PYBIND11_MODULE(a, m) { A30(f) }"}}, Vocabulary{})
	told := slices.ContainsFunc(Sorted(notes), func(n Note) bool { return strings.HasSuffix(n.Text, "(...): macros stand for too much here") })
	if len(functions) != 1 || !told {
		t.Errorf("got %d functions, notes %v", len(functions), Sorted(notes))
	}
}
