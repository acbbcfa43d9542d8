package migrate

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// shown are parameters as the tables of tests have them: kinds by their first letters, and what else is known.
func shown(params []Param) string {
	kinds := []string{"other", "array", "list", "int", "float", "bool", "str", "dtype", "ints", "stream"}
	var words []string
	for _, p := range params {
		w := p.Name + ":" + kinds[p.Kind]
		if p.Elem != "" {
			w += "<" + p.Elem + ">"
		}
		if p.Len > 0 {
			w += fmt.Sprint(p.Len)
		}
		if p.Optional {
			w += "?"
		}
		if p.Written {
			w += "!"
		}
		if p.Default != "" {
			w += "=" + p.Default
		}
		words = append(words, w)
	}
	return strings.Join(words, " ")
}

func TestSchema(t *testing.T) {
	for _, tt := range []struct{ name, schema, params, results string }{
		{"plain", "f(Tensor x) -> Tensor", "x:array", ":array"},
		{"namespace and overload", "ns::f.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)", "x:array out:array!", ":array!"},
		{"short for written", "f(Tensor! x, Tensor!? y) -> ()", "x:array! y:array?!", ""},
		{"lists", "f(Tensor[] xs, Tensor(a!)[] ys, Tensor[]? zs, Tensor?[] mask) -> Tensor[]", "xs:list ys:list! zs:list? mask:other", ":list"},
		{"attributes", "f(Tensor x, int n=1, float eps=1e-6, bool b=True, str s='a, b', Scalar a=1) -> Tensor",
			"x:array n:int=1 eps:float=1e-6 b:bool=True s:str=a, b a:float=1", ":array"},
		{"integers", "f(Tensor x, int[] p, SymInt[2] q=[1, 2], int[1]? r=None, SymInt s) -> Tensor", "x:array p:ints q:ints2=[1, 2] r:ints1?=None s:int", ":array"},
		{"optional numbers", "f(Tensor x, float? a=None, ScalarType? dtype=None) -> Tensor", "x:array a:float?=None dtype:dtype?=None", ":array"},
		{"several results", "f(Tensor x) -> (Tensor out, Tensor(a!), int n)", "x:array", "out:array :array! n:int"},
		{"what ops do not have", "f(Tensor x, Device? d=None, float[] w, __torch__.torch.classes.a.B b) -> Tensor", "x:array d:other?=None w:other b:other", ":array"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, err := schema(tt.schema)
			if err != nil || f.Name != "f" || shown(f.Params) != tt.params || shown(f.Results) != tt.results {
				t.Errorf("got %s(%s) -> %s, %v", f.Name, shown(f.Params), shown(f.Results), err)
			}
		})
	}
	for _, wrong := range []string{"f", "", "f(Tensor x", "(Tensor x) -> Tensor", "f(Tensor x) Tensor", "f(Tensor x,, int y) -> Tensor", "f(=1) -> Tensor", "f(x) ->"} {
		if f, err := schema(wrong); err == nil {
			t.Errorf("%q: accepted as %s(%s)", wrong, f.Name, shown(f.Params))
		}
	}
}

func TestDeclarations(t *testing.T) {
	for _, tt := range []struct{ name, source, params, results string }{
		{"tensors", "at::Tensor f(const at::Tensor& x, torch::Tensor y, at::Tensor &z);", "x:array y:array z:array!", ":array"},
		{"optional", "void f(c10::optional<at::Tensor>& x, const std::optional<const at::Tensor>& y, std::optional<int64_t> n = std::nullopt);",
			"x:array?! y:array? n:int?=std::nullopt", ""},
		{"lists", "std::vector<at::Tensor> f(at::TensorList x, const std::vector<torch::Tensor>& y, std::vector<int64_t> n, at::IntArrayRef m, std::array<int, 3> k);",
			"x:list y:list n:ints m:ints k:ints3", ":list"},
		{"tuples", "std::tuple<at::Tensor, int64_t> f(at::Tensor);", ":array", ":array :int"},
		{"trailing type", "auto f(const TensorView x, ffi::Optional<ffi::Tensor> y, String s) -> void {}", "x:array y:array? s:str", ""},
		{"numbers", "at::Tensor f(at::Tensor x, unsigned int a, unsigned long long b, const double c = 1.0, bool d = false, std::string_view e, at::ScalarType g);",
			"x:array a:int b:int c:float=1.0 d:bool=false e:str g:dtype", ":array"},
		{"pointers", "int f(float* y, const float* __restrict__ x, const int8_t w[], void const* v, const char* mode, float** rows, cudaStream_t s, CUstream_st* t);",
			"y:array<f32>! x:array<f32> w:array<i8> v:array mode:str rows:other s:stream t:stream", ":int"},
		{"const pointers", "void f(float* const y, const float* const x, float const* w, float* const __restrict__ z, const float* const* rows, char* const c);",
			"y:array<f32>! x:array<f32> w:array<f32> z:array<f32>! rows:other c:other", ""},
		{"signs", "void f(unsigned char* a, const signed char* b, unsigned* c, unsigned int const* d, short unsigned* e, unsigned long long* g, unsigned long int* h, signed* i, long long* j, long double* k, unsigned char l, const unsigned char);",
			"a:array<u8>! b:array<i8> c:array<u32>! d:array<u32> e:array<u16>! g:array<u64>! h:array<u64>! i:array<i32>! j:array<i64>! k:other l:int :int", ""},
		{"AMD's", "void f(_Float16* y, const __hip_bfloat16* x, hipStream_t s, void* stream, void* cuda_stream, void* z);",
			"y:array<f16>! x:array<bf16> s:stream stream:stream cuda_stream:stream z:array!", ""},
		{"aliases", "using half_t = _Float16; typedef half_t more; using F = float*; typedef std::vector<int> ints;\nvoid f(half_t* y, const more* x, F z, ints k);",
			"y:array<f16>! x:array<f16> z:other k:other", ""},
		{"aliases that differ", "namespace a { using real = float; } namespace b { using real = double; } using whole = const int;\nvoid f(real* y, whole* x, const first* z); using first = second; using second = float;",
			"y:other x:other z:array<f32>", ""},
		{"the author's types", "void f(own::tensor_t& y, const tensor_t& x, std::optional<tensor_t> b, const q4* w);", "y:array! x:array b:array? w:array<u8>", ""},
		{"template", "template <typename T, class W>\nAPI_EXPORT void f(T* y, const W* w, size_t n);", "y:array<T>! w:array<W> n:int", ""},
		{"attributes of C++", "[[nodiscard]] __attribute__((visibility(\"default\"))) static inline int f(const half *x, void (*g)(int, float));", "x:array<f16> :other", ":int"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newReader(Vocabulary{Tensors: []string{"tensor_t"}, Elements: map[string]string{"q4": "u8"}})
			f := &file{Source: Source{"a.h", tt.source}, tokens: lex(tt.source)}
			for range chained {
				r.aliases(f)
			}
			r.declarations(f)
			if len(r.declared["f"]) != 1 {
				t.Fatalf("declared: %v", r.declared)
			}
			if c := r.declared["f"][0]; shown(c.params) != tt.params || shown(cppResults(c.result, r.types)) != tt.results {
				t.Errorf("got (%s) -> %s", shown(c.params), shown(cppResults(c.result, r.types)))
			}
		})
	}
}

// TestScopes: what is no function of a namespace is no function that can be called.
func TestScopes(t *testing.T) {
	const source = `
#define F(x) void hidden_by_macro(float* x) \
  { }
// void commented(float* x);
/* void commented_too(float* x); */
const char* kText = "void quoted(float* x);"; const char* kRaw = R"x(void raw(float* x); ")x";
namespace a::b { namespace { void nameless(float* x); } inline namespace v1 { void versioned(float* x); } void nested(float* x) { void local(float*); } }
extern "C" { void plain(float* x); }
class C { void method(float* x); };
struct S { int n; } s = {1};
template <> void special<float>(float* x);
int C::outside(float* x) { return 1'000; }
void operator+(float* x, int);
using Fn = void (*)(float*);
static void internal(float* x);
void last(float* x);`
	r := newReader(Vocabulary{})
	r.declarations(&file{Source: Source{"a.h", source}, tokens: lex(source)})
	var got []string
	for name, list := range r.declared {
		got = append(got, fmt.Sprint(name, list[0].called(), " ", list[0].hidden, " ", list[0].line))
	}
	slices.Sort(got)
	want := []string{"internal::internal true 15", "last::last false 16", "nameless::a::b::nameless true 7", "nested::a::b::nested false 7",
		"plain::plain false 8", "versioned::a::b::v1::versioned false 7"}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestOpName(t *testing.T) {
	for name, want := range map[string]string{
		"rms_norm": "rms_norm", "launchRmsNorm": "rms_norm", "invoke_softmax_kernel": "softmax", "add_": "add", "copyBytes": "copy_bytes",
		"layers": "layers_op", "2d": "op_2d", "batch": "batch_op", "lambda": "lambda_op", "launch_": "launch", "__": "op_", "ÄÖ": "op_",
	} {
		if got := opName(name); want != "op_" && got != want || got == "" {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

// extensions are the sources of the end-to-end test.
func extensions(t *testing.T) []Source {
	t.Helper()
	archive, err := txtar.ParseFile("../../e2e/testdata/migrate.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var sources []Source
	for _, f := range archive.Files {
		sources = append(sources, Source{f.Name, string(f.Data)})
	}
	return sources
}

// TestTorn: a text that ends anywhere, or has lost a part, is read like any other.
func TestTorn(t *testing.T) {
	for _, s := range extensions(t) {
		for i := 0; i < len(s.Text); i += 7 {
			for _, torn := range []string{s.Text[:i], s.Text[i:], s.Text[:i] + s.Text[min(len(s.Text), i+11):]} {
				sources := []Source{{s.Name, torn}, s}
				functions, _ := Read(sources, Vocabulary{})
				Drafts(functions, sources, Project{Namespace: "demo_ops"})
			}
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add("TORCH_LIBRARY(a, m) { m.def(\"f(Tensor x) -> Tensor\"); }")
	f.Add("PYBIND11_MODULE(a, m) { m.def(\"f\", &f, py::arg(\"x\") = 1); }\nat::Tensor f(const at::Tensor& x);")
	f.Add("template <typename T> void launch(T* y, const T* x, int n); template void launch<float>(float*, const float*, int);")
	f.Add("#define D(n, ...) m.def(#n, &a##n, __VA_ARGS__)\n#define E D(f, 1); D(g)\nPYBIND11_MODULE(a, m) { E; } void af(float* y, tensor_t& x);")
	f.Add("using t = float; void g(t* p, const t* q) { *p++ = q[1]; } void f(t* y, t* x) { auto& r = y[0]; t* z = (t*)x; g(z, x + 1); (y[2])++; }")
	f.Fuzz(func(_ *testing.T, text string) {
		for _, name := range []string{"a.cu", "a.h"} {
			sources := []Source{{name, text}}
			functions, _ := Read(sources, Vocabulary{})
			Drafts(functions, sources, Project{Namespace: "demo_ops"})
		}
	})
}
