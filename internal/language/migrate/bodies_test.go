package migrate

import (
	"fmt"
	"strings"
	"testing"
)

// TestBodies: what a function does with its arrays is read from its body, and from those that it calls.
func TestBodies(t *testing.T) {
	const kernels = `
template <class T> __global__ void Kernel(T* y, const T* x, float* sums, int n) { y[n] = x[n]; sums[n] += 1; }
void Twice(float* y, float* x, int n) { for (int i = 0; i < n; ++i) y[i] = 2 * x[i]; }
void Loop(float* p, int n) { Loop(p, n - 1); }
`
	for _, tt := range []struct{ name, params, body, want string }{
		{"elements", "float* y, float* x, float* z", "y[0] = x[0] == 1; z[1] *= 2;", "y:written x:read z:both"},
		{"steps", "int* y, int* x", "++x[1]; y[0]++; if (x[0]) return;", "y:both x:both"},
		{"pointers", "float* y, float* x, float* z", "float* to = y; const float* from = x + 3; to[1] = 3; *z = 2;", "y:written x:read z:written"},
		{"a call", "float* a, float* b, int n", "Twice(a, b, n);", "a:written b:read"},
		{"a launch", "Tensor out, Tensor in, Tensor s", "Kernel<float><<<1, 32, 0, stream>>>(reinterpret_cast<float*>(out.data_ptr()), (float*)in.data_ptr(), s.data_ptr<float>(), 3);",
			"out:written in:read s:both"},
		{"casts", "Tensor out, Tensor in, Tensor s", "f.x = static_cast<const float*>(in.const_data_ptr()); f.y = static_cast<float*>(out.mutable_data_ptr()); f.s = static_cast<float*>(s.data_ptr());",
			"out:written in:read s:?"},
		{"methods", "Tensor x, Tensor y, Tensor z", "x.zero_(); auto n = y.size(0); z.__secret__();", "x:both y:? z:?"},
		{"what is given away", "float* a, float* b, float* c, float* d, float* e, float* g",
			"atomicAdd(&a[0], b[0]); memcpy(c, b, 4); if (c[0]) std::fill(d, d + 3, d[0]); reinterpret_cast<float4*>(e)[0] = g[0]; g = e;", "a:? b:? c:? d:? e:? g:?"},
		{"steps of pointers", "float* y, float* x, float* z", "while (n--) { *y++ = *x++ * 2; } *z += 1;", "y:written x:read z:both"},
		{"whether there is one", "float* y, float* bias", "y[0] = bias == nullptr ? 0 : bias[0]; if (bias) y[1] = 2 * bias[1];", "y:written bias:read"},
		{"const pointers", "float* a, float* b", "float* const p = a; p[0] = 1; float* const* pp = &b; (*pp)[0] = 1;", "a:written b:?"},
		{"several pointers", "float* a, float* b", "float *p = a, *q = b; p[1] = b[1]; q[0] = 1;", "a:written b:?"},
		{"references", "float* a, float* b, float* c, float* d", "auto& r = a[1]; r = 1; std::swap(b[0], c[0]); float s = d[0] + exp(d[1]);", "a:? b:? c:? d:read"},
		{"brackets", "float* a, float* b, float* c, float* d", "++(a[1]); (b[0])++; (c[1]) = 2; (*d) += 1;", "a:both b:both c:written d:both"},
		{"a cast of const", "float* a", "const float* p = a; float* q = const_cast<float*>(p); q[0] = 1;", "a:?"},
		{"other arrays", "float* a, float* b, Tensor x, Tensor y, float* c, Tensor z", "float* t = alloc(a, n); t[0] = 2; { float b[4]; b[0] = 1; } x = x.contiguous(); x.mul_(2);" +
			"y.requires_grad_(false); auto f = [](float* c) { c[0] = 1; }; { Tensor z = y; z.zero_(); }", "a:? b:? x:? y:? c:? z:?"},
		{"nothing", "float* x, Tensor y", "Unknown(x, y);", "x:? y:?"},
		{"itself", "float* p, int n", "Loop(p, n);", "p:?"},
		{"a member of the same name", "float* y, float* x", "a.y[0] = 1; a->x[0] = 1;", "y:? x:?"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newReader(Vocabulary{})
			source := kernels + "void f(" + tt.params + ") {" + tt.body + "}"
			r.declarations(&file{Source: Source{"a.cu", source}, tokens: lex(source)})
			c := r.declared["f"][0]
			r.known(c, c.params)
			var got []string
			for _, p := range c.params {
				if p.Kind != Array {
					continue
				}
				what := "?"
				if p.sure {
					what = map[use]string{{reads: true}: "read", {writes: true}: "written", {reads: true, writes: true}: "both"}[use{reads: p.read, writes: p.Written}]
				}
				got = append(got, p.Name+":"+what)
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("got %v, want %s", got, tt.want)
			}
		})
	}
}

// TestBodiesThatNameEachOther: what many bodies do is found out once.
func TestBodiesThatNameEachOther(t *testing.T) {
	source := "void f0(float* p) { p[0] = 1; }\n"
	for i := range 6 {
		source += fmt.Sprintf("void f%d(float* p) { %s }\n", i+1, strings.Repeat(fmt.Sprintf("f%d(p); ", i), 3000))
	}
	functions, _ := Read([]Source{{"a.cc", source}}, Vocabulary{})
	if len(functions) != 7 || !functions[1].Params[0].sure || functions[6].Params[0].sure {
		t.Errorf("got %+v", functions)
	}
}
