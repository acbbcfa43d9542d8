package names

import (
	"strings"
	"testing"
)

// TestMistakes: which names ops and collections cannot have, and why.
func TestMistakes(t *testing.T) {
	for name, want := range map[string]struct{ op, collection string }{
		"rms_norm":              {"", ""},
		"RmsNorm":               {"no op name", "no collection name"},
		"rms__norm":             {"no op name", "no collection name"},
		strings.Repeat("a", 65): {"no op name", "no collection name"},
		"lambda":                {"a Python keyword", "a Python keyword"},
		"template":              {"a C++ keyword", ""},
		"f32":                   {"a dtype", ""},
		"layers":                {"part of every package", ""},
		"tvm_ffi":               {"", "taken by another package"},
		"none":                  {"a Python keyword as a class", ""},
		"e_o_f":                 {"in C++ it is EOF", ""},
		"errno":                 {"a macro of the headers", ""},
		"int32_t":               {"a C++ type", ""},
		"ndarray":               {"used by generated code", ""},
		"register_all":          {"a generated file", ""},
		"ld":                    {"", "the beginning of environment variables"},
		"higher_order":          {"", "taken by another package"},
	} {
		for _, check := range []struct {
			err  error
			want string
		}{{CheckOp(name), want.op}, {CheckCollection(name), want.collection}} {
			if (check.err == nil) != (check.want == "") || check.err != nil && !strings.Contains(check.err.Error(), check.want) {
				t.Errorf("%s: got %v, want %q", name, check.err, check.want)
			}
		}
	}
}

func TestPascal(t *testing.T) {
	for name, want := range map[string]string{"rms_norm": "RmsNorm", "gemm": "Gemm", "a_2b": "A2b"} {
		if got := Pascal(name); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}
