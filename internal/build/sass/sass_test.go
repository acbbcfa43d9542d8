package sass

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opcast/opcast/internal/build/compiler"
	"github.com/opcast/opcast/internal/build/pyenv"
)

// planted are the findings in testdata/planted.cu, whose other kernels have none.
var planted = []string{
	"planted.cu: Bytes: narrow in a hot loop: 1 load of one or two bytes",
	"planted.cu: Division: call in a hot loop: 1 call of div_s64",
	"planted.cu: Double: fp64 in a hot loop: 3 instructions on doubles",
	"planted.cu: Generic: generic in a hot loop: 1 generic access",
}

// functions are those of the text that nvdisasm printed of testdata/planted.cu.
func functions(t *testing.T) []Function {
	t.Helper()
	text, err := os.ReadFile("testdata/planted.sass")
	if err != nil {
		t.Fatal(err)
	}
	var list []Function
	for _, l := range parse(string(text)) {
		f := function(l)
		f.Name, f.Source, f.Arch = l.name, "planted.cu", "sm_90"
		list = append(list, f)
	}
	return list
}

func texts(list []Finding) (out []string) {
	for _, f := range list {
		out = append(out, f.String())
	}
	return out
}

// Each thing that was planted into a hot loop is found, and nothing else.
func TestPlanted(t *testing.T) {
	if diff := cmp.Diff(planted, texts(Check(functions(t)))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The same with what the compiler of this machine makes of the source.
func TestPlantedCompiled(t *testing.T) {
	if testing.Short() || os.Getenv("OPCAST_TEST_PYTHON") == "" {
		t.Skip("a compiler is looked for where OPCAST_TEST_PYTHON names an environment")
	}
	env, err := pyenv.Find(t.Context(), pyenv.Query{Python: os.Getenv("OPCAST_TEST_PYTHON")})
	if err != nil {
		t.Fatal(err)
	}
	cuda, err := compiler.FindCUDA(t.Context(), env, os.Getenv, "")
	if err != nil {
		t.Skip(err)
	}
	tools, err := FindTools(env, cuda.NVCC)
	if err != nil {
		t.Skip(err)
	}
	object := filepath.Join(t.TempDir(), "planted.o")
	if out, err := exec.Command(cuda.NVCC, "-O3", "-arch=sm_90", "-c", "testdata/planted.cu", "-o", object).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cubins, remove, err := tools.Extract(t.Context(), []Object{{"planted.cu", object}})
	if err != nil || len(cubins) != 1 {
		t.Fatal(cubins, err)
	}
	defer func() { _ = remove() }()
	list, err := tools.Functions(t.Context(), &cubins[0])
	if err != nil {
		t.Fatal(err)
	}
	described(t, list)
	kinds := func(text string) string { return strings.Join(strings.SplitN(text, ": ", 4)[:3], ": ") } // counts are the compiler's
	var want, got []string
	for _, text := range planted {
		want = append(want, kinds(text))
	}
	for _, text := range texts(Check(list)) {
		got = append(got, kinds(text))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// An exception allows one kind in one kernel, and one for nothing is found.
func TestJudge(t *testing.T) {
	const text = "// sass: allows fp64, call in Double: a reason\n// sass: allows generic in Bytes: another\n"
	exceptions, err := Exceptions("planted.cu", text)
	if err != nil {
		t.Fatal(err)
	}
	judged := Judge(Check(functions(t)), map[string][]Exception{"planted.cu": exceptions})
	stale := []string{
		"planted.cu:1: Double has no call in a hot loop: remove the exception",
		"planted.cu:2: Bytes has no generic in a hot loop: remove the exception",
	}
	if diff := cmp.Diff(stale, judged.Stale); diff != "" {
		t.Errorf("stale (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(planted[2:3], texts(judged.Allowed)); diff != "" {
		t.Errorf("allowed (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(slices.Delete(slices.Clone(planted), 2, 3), texts(judged.Forbidden)); diff != "" {
		t.Errorf("forbidden (-want +got):\n%s", diff)
	}
}

// A line that is meant as an exception and is none is an error, not silence.
func TestExceptions(t *testing.T) {
	for text, want := range map[string]string{
		"// sass: allows fp64 in Foo: why\nint x; // sass: no\n": "",
		"int x;\n// sass: allows fp64 in Foo:\n":                 `a.cu:2: expected a line such as`,
		"// sass: fp64 in Foo: why\n":                            `a.cu:1: expected a line such as`,
		"  // sass: allows fp64 in Foo: why\n":                   `a.cu:1: expected a line such as`,
		"// sass: allows fp32 in Foo: why\n":                     `a.cu:1: unknown kind "fp32"`,
	} {
		_, err := Exceptions("a.cu", text)
		if got := fmt.Sprint(err); want == "" && err != nil || want != "" && !strings.HasPrefix(got, want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}

// Exceptions are written below those that are there, which stay as they are without what is for nothing.
func TestAllow(t *testing.T) {
	findings := []Finding{
		{Kind: FP64, Source: "a.cu", Kernel: "Foo", Detail: "2 instructions on doubles"},
		{Kind: Narrow, Source: "a.cu", Kernel: "Bar", Detail: "1 load of one or two bytes"},
	}
	const added = "// sass: allows narrow in Bar: scalar, not yet vectorised (1 load of one or two bytes)\n"
	const foo = "// sass: allows fp64 in Foo: not yet in floats (2 instructions on doubles)\n"
	for name, tt := range map[string]struct{ before, after string }{
		"none":    {"// What it does.\n#include <x>\n", "// What it does.\n" + foo + added + "#include <x>\n"},
		"bare":    {"int x;\n", foo + added + "int x;\n"},
		"kept":    {"// A.\n// sass: allows fp64 in Foo: it is so\n// B.\nint x;\n", "// A.\n// sass: allows fp64 in Foo: it is so\n" + added + "// B.\nint x;\n"},
		"lessens": {"// sass: allows call, fp64 in Foo: so\nint x;\n", "// sass: allows fp64 in Foo: so\n" + added + "int x;\n"},
		"gone":    {"// A.\n// sass: allows call in Foo: so\nint x;\n", "// A.\n" + foo + added + "int x;\n"},
	} {
		got, err := Allow("a.cu", tt.before, findings)
		if diff := cmp.Diff(tt.after, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
		again, err := Allow("a.cu", got, findings)
		if diff := cmp.Diff(got, again); err != nil || diff != "" {
			t.Errorf("%s: again: %v (-want +got):\n%s", name, err, diff)
		}
	}
}

// A loop of the kernels is what the source says: how deep, how wide, and what is a remainder.
func TestLoops(t *testing.T) {
	got := map[string]string{}
	for _, f := range functions(t) {
		var words []string
		for _, l := range f.Loops {
			loads, stores := l.All.Moved()
			words = append(words, fmt.Sprintf("depth %d, %d bytes in, %d out, hot %v, remainder %v", l.Depth, loads, stores, l.Hot, l.Remainder))
		}
		got[f.Short()] = strings.Join(words, "; ")
	}
	want := map[string]string{
		"Vectors":  "depth 1, 16 bytes in, 16 out, hot true, remainder false",
		"Double":   "depth 1, 16 bytes in, 16 out, hot true, remainder false",
		"Bytes":    "depth 1, 1 bytes in, 4 out, hot true, remainder false",
		"Generic":  "depth 1, 0 bytes in, 4 out, hot true, remainder false", // where a generic load reads, nobody knows
		"Division": "depth 1, 4 bytes in, 4 out, hot true, remainder false",
		"Rest":     "depth 1, 16 bytes in, 16 out, hot true, remainder false; depth 1, 4 bytes in, 4 out, hot false, remainder true",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// described expects what the cubin says of kernels.
func described(t *testing.T, list []Function) {
	t.Helper()
	if len(list) != 6 {
		t.Errorf("%d kernels, want 6", len(list))
	}
	for _, f := range list {
		want := map[string][]int{"Double": {8, 8, 8, 8}, "Division": {8, 8, 8, 8}, "Rest": {8, 8, 4}}[f.Short()]
		if want == nil {
			want = []int{8, 8, 8}
		}
		if diff := cmp.Diff(want, f.Parameters); diff != "" || f.Registers < 8 || f.Registers > 64 {
			t.Errorf("%s: %+v (-want +got):\n%s", f.Short(), f.Kernel, diff)
		}
		if f.Short() == "Generic" != (f.Shared >= 1024) {
			t.Errorf("%s: %d bytes of shared memory", f.Short(), f.Shared)
		}
	}
}

func TestShortName(t *testing.T) {
	for mangled, want := range map[string]string{
		"_ZN10opcast_ops10RowsKernelINS_4FormILi4ELb1EEEEEvT_": "RowsKernel", "_Z3addPf": "add", "plain": "plain",
		"_ZN43_GLOBAL__N__3841cd75_10_softmax_cu_f6210b3b3FooEPf": "Foo", "_ZL3fooi": "foo", "_ZN12_GLOBAL__N_1L3BarEv": "Bar", "_Z": "_Z",
	} {
		if got := ShortName(mangled); got != want {
			t.Errorf("%s: got %q, want %q", mangled, got, want)
		}
	}
}
