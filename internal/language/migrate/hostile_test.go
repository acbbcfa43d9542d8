package migrate

import (
	"strings"
	"testing"
	"time"
)

// TestLarge: no large text takes long, however its brackets nest: the time does not grow with the square of the size.
func TestLarge(t *testing.T) {
	for name, part := range map[string]string{
		"zeros": "\x00", "high bytes": "\xff", "open": "(", "angles": "<", "both": "<(", "pairs": "<()", "braces": "{", "close": "}", "strings": `"`, "torn strings": "\"x);\n", "macros": "KERNEL(a) {}\n", "raw": `R"(`, "comments": "/*",
		"blocks": "TORCH_LIBRARY(", "modules": "PYBIND11_MODULE(a,m){m.def(", "exports": "TVM_FFI_DLL_EXPORT_TYPED_FUNC(", "templates": "template <",
		"instances": "template void f<float>(float*);", "overloads": "void f(float* y);", "commas": "void f(float*,", "namespaces": "namespace a {",
		"schemas": "TORCH_LIBRARY(a,m){m.def(\"f(Tensor x) -> Tensor\");}", "same": "TORCH_LIBRARY_IMPL(a,CPU,m){m.impl(\"f\",f);}", "defaults": "void f(float* x = g(",
		"directives": "#define a \\\n", "numbers": "1e+", "ids": "a1 ",
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Repeat(part, MaxSize/4/len(part))
			sources := []Source{{"a.h", text}, {"b.cu", "void f(float* y, int n);\n" + text}}
			begin := time.Now()
			functions, _ := Read(sources, Vocabulary{})
			Drafts(functions, sources, Project{Namespace: "demo_ops"})
			if took := time.Since(begin); took > 10*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

// TestManyParameters: a list that does end has names that repeat, and is drafted up to a number of parameters.
func TestManyParameters(t *testing.T) {
	for n, drafted := range map[int]int{10: 1, longestList - 1: 1, longestList: 0, 100000: 0} {
		sources := []Source{{"a.h", "void f(" + strings.Repeat("float*x,", n) + "int n);"}}
		begin := time.Now()
		functions, _ := Read(sources, Vocabulary{})
		drafts, notes := Drafts(functions, sources, Project{Namespace: "demo_ops"})
		if took := time.Since(begin); len(drafts) != drafted || len(notes) == 0 || took > 5*time.Second {
			t.Errorf("%d parameters: %d drafts, %d notes, %v", n, len(drafts), len(notes), took)
		}
	}
}
