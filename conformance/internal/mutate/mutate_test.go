package mutate_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opcast/opcast/conformance/internal/mutate"
	"github.com/opcast/opcast/internal/build/compiler"
	"github.com/opcast/opcast/internal/build/pyenv"
	"github.com/opcast/opcast/internal/language/framework"
)

// sample is generated C++ in small.
const sample = `#include "scale.gen.h"

namespace demo_ops {
namespace {

constexpr opcast::Array kArrays[] = {
    opcast::Array::Output("y"),
    opcast::Array::Input("x"),
};

void run_scale(const TVMFFIAny* argv, int32_t count, opcast::Request* request) {
  const opcast::Call call("scale; {", argv, count, 2);
  call.Dense(x); call.Data(x);
  if (bias) {
    call.Size(bias, 0, N, {{"N", N, "x"}});
  }
  const int64_t N = x.size(-1);
  ScaleArgs values{};
  values.N = N;
  opcast::Dispatch(call, op_scale, kVariants, values, opcast::LaunchOn(x),
                   {request});
}

}  // namespace
}  // namespace demo_ops
`

func TestSchemata(t *testing.T) {
	for _, test := range []struct {
		name     string
		operator mutate.Operator
		want     []string // pieces of the new text
	}{
		{
			"a statement is left out", mutate.Operator{Pattern: `^call\.Data\(.*\);$`},
			[]string{"call.Dense(x); if (OPCAST_MUTANT(7)) {  } else { call.Data(x); }\n"},
		},
		{
			"a statement in a block", mutate.Operator{Pattern: `(call\.Size\(\w+, 0, )`, Replace: `${1}1 + `},
			[]string{
				`if (OPCAST_MUTANT(7)) { call.Size(bias, 0, 1 + N, {{"N", N, "x"}}); } else`,
				`else { call.Size(bias, 0, N, {{"N", N, "x"}}); }`,
			},
		},
		{
			"a declaration keeps its name", mutate.Operator{Pattern: `x\.size\(-1\)`, Replace: `2`},
			[]string{"const int64_t N = OPCAST_MUTANT(7) ? (2) : (x.size(-1));"},
		},
		{
			"one for each written array",
			mutate.Operator{Pattern: `^(?s:opcast::Dispatch.*)$`, Each: `opcast::Array::Output\("(\w+)"`, Replace: `$0 Beyond($EACH);`},
			[]string{"Beyond(y); } else { opcast::Dispatch("},
		},
		{
			"only names that the file has",
			mutate.Operator{Pattern: `^values\.(\w+) = \w+;$`, Among: `const int64_t (\w+) =`, Replace: `values.$1 = 1;`},
			[]string{"if (OPCAST_MUTANT(7)) { values.N = 1; } else { values.N = N; }", `#include "` + mutate.HeaderName + `"`},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, mutants := mutate.Schemata("backend/gen/scale.gen.cc", sample, []*mutate.Operator{&test.operator}, []string{"scale"}, 7)
			if len(mutants) != 1 || mutants[0].Number != 7 || mutants[0].Op != "scale" {
				t.Fatalf("got %d mutants: %+v", len(mutants), mutants)
			}
			for _, want := range test.want {
				if !strings.Contains(got, want) {
					t.Errorf("the text lacks %q:\n%s", want, got)
				}
			}
		})
	}
}

func TestEdit(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "adaptors", "numpy", "src", "toy_numpy", "_ops")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	const text = "def scale(x, *, eps: float = 1e-06, n: int = 2):\n    return x\n"
	o := mutate.Operator{
		Kind: "wrong-default", Files: "adaptors/*/src/NAME_*/_ops/*.py", Pattern: `(: \w+ = )([\d.e-]+)`, Replace: `${1}1 + $2`,
	}
	source := mutate.Source{Dir: dir, Name: "toy", Ops: []string{"scale"}, Adaptors: []string{"numpy"}}
	if _, err := mutate.EditsOf(source, []*mutate.Operator{&o}); err == nil || !strings.Contains(err.Error(), "matches nowhere") {
		t.Errorf("an operator without a place: got %v", err)
	}
	if err := os.WriteFile(filepath.Join(folder, "scale.py"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	mutants, err := mutate.EditsOf(source, []*mutate.Operator{&o})
	if err != nil {
		t.Fatal(err)
	}
	if len(mutants) != 2 || mutants[1].ID != "scale/numpy/wrong-default/2" || mutants[1].Layer() != "numpy" {
		t.Fatalf("got %+v", mutants)
	}
	want := "def scale(x, *, eps: float = 1 + 1e-06, n: int = 1 + 2):\n    return x\n"
	if diff := cmp.Diff(want, mutate.Edit(text, mutants)); diff != "" {
		t.Error(diff)
	}
}

// TestOperators plants all mutants into this repository: a template that no operator matches any more shows here.
func TestOperators(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	dir, ops := copied(t, root)
	planted, err := mutate.Plant(mutate.Source{Dir: dir, Ops: ops, Switch: filepath.Join(dir, "mutant")})
	if err != nil {
		t.Fatal(err)
	}
	edits, err := mutate.Edits(mutate.Source{Dir: root, Name: "opcast", Ops: ops, Adaptors: framework.Names()})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	used := map[string]bool{}
	streams := 0
	for _, m := range slices.Concat(planted, edits) {
		if seen[m.ID] {
			t.Errorf("two mutants are called %s", m.ID)
		}
		seen[m.ID] = true
		used[m.Operator.Doc+m.Operator.Pattern] = true
		if len(m.Operator.Expect) == 0 || m.Operator.Doc == "" {
			t.Errorf("%s: no check is expected to notice, or nothing says what error is planted", m.ID)
		}
		if m.Operator.Kind == "wrong-stream" {
			streams++
		}
	}
	if streams != len(ops) {
		t.Errorf("%d kernels on the wrong stream, want one for each of %d ops", streams, len(ops))
	}
	for _, o := range append(operators(t, true), operators(t, false)...) {
		unknown := strings.HasSuffix(o.Doc, ": a bool") || strings.HasSuffix(o.Doc, ": a broadcast") // which no op here has
		if !used[o.Doc+o.Pattern] && !unknown {
			t.Errorf("operator %s, %s: %q has no place in this repository", o.Kind, o.Doc, o.Pattern)
		}
	}
}

// copied is a folder with this repository's generated C++, and the ops that it is about.
func copied(t *testing.T, root string) (dir string, ops []string) {
	t.Helper()
	dir = t.TempDir()
	files, err := filepath.Glob(filepath.Join(root, "backend", "gen", "*.gen.cc"))
	if err != nil || len(files) == 0 {
		t.Fatal(err, len(files))
	}
	if err := os.CopyFS(filepath.Join(dir, "backend", "gen"), os.DirFS(filepath.Join(root, "backend", "gen"))); err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if op, _, _ := strings.Cut(filepath.Base(f), "."); op != "register_all" {
			ops = append(ops, op)
		}
	}
	return dir, ops
}

// TestPlantedCompiles: the C++ of all ops compiles with all mutants in it.
func TestPlantedCompiles(t *testing.T) {
	python := os.Getenv("OPCAST_TEST_PYTHON")
	if python == "" {
		t.Skip("OPCAST_TEST_PYTHON names no Python with tvm-ffi")
	}
	t.Parallel()
	env, err := pyenv.Find(t.Context(), pyenv.Query{Python: python, Getenv: os.Getenv})
	if err != nil {
		t.Fatal(err)
	}
	cxx, err := compiler.FindCXX(t.Context(), os.Getenv)
	if err != nil {
		t.Skip(err)
	}
	root := filepath.Join("..", "..", "..")
	dir, ops := copied(t, root)
	if _, err := mutate.Plant(mutate.Source{Dir: dir, Ops: ops, Switch: filepath.Join(dir, "mutant")}); err != nil {
		t.Fatal(err)
	}
	generated := filepath.Join(dir, "backend", "gen")
	args := slices.Concat(cxx.Words[1:], []string{"-std=c++17", "-Wall", "-Wextra", "-Werror",
		"-I", generated, "-I", filepath.Join(root, "backend"), "-isystem", env.TVMInclude})
	units, err := filepath.Glob(filepath.Join(generated, "*.gen.cc"))
	if err != nil || len(units) <= len(ops) {
		t.Fatal(units, err)
	}
	// What all units include is compiled once.
	common := filepath.Join(dir, "common.h")
	if err := os.WriteFile(common, []byte("#include \"opcast/registry.h\"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	header := slices.Concat(args, []string{"-x", "c++-header", common, "-o", common + ".gch"})
	for _, words := range [][]string{header, slices.Concat(args, []string{"-fsyntax-only", "-include", common}, units)} {
		if out, err := exec.CommandContext(t.Context(), cxx.Words[0], words...).CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	}
}

func operators(t *testing.T, cpp bool) []*mutate.Operator {
	t.Helper()
	list, err := mutate.Operators(cpp)
	if err != nil || len(list) == 0 {
		t.Fatal(err, len(list))
	}
	return list
}
