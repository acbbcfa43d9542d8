package build

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/pyenv"
)

func sampleInputs() inputs {
	return inputs{
		project: &opdef.Project{Dir: "/home/me/my kernels", Manifest: opdef.Manifest{
			Name: "demo", Include: []string{"third_party"}, Defines: []string{`NOTE="a b"`}, Link: []string{"-lfoo"},
			Files: []opdef.FileFlags{{Match: "csrc/**/fast*.cc", Flags: []string{"-mavx2"}}},
		}},
		env: &pyenv.Env{TVMInclude: "/site/tvm_ffi/include", JAXInclude: "/site/jaxlib/include",
			Packages: map[string]string{"apache-tvm-ffi": "0.1.15", "jaxlib": "0.10.2"}},
		compiler: compiler{words: []string{"ccache", "g++"}, version: "g++ 12.2.0"},
		runtime:  tree{root: "build/runtime"},
		kernels:  []string{"csrc/cpu/fast one.cc", "csrc/ffi/plan.cc"},
		backend:  []string{"build/runtime/opcast/ffi.cc", "build/runtime/opcast/parallel.cc", "backend/gen/scale.gen.cc"},
		jax:      []string{"adaptors/jax/csrc/xla_call.cc"},
	}
}

// The golden holds every text of a plan; UPDATE=1 rewrites it.
func TestPlanGolden(t *testing.T) {
	p, err := newPlan(sampleInputs())
	if err != nil {
		t.Fatal(err)
	}
	got := "-- build.ninja --\n" + p.ninja + "-- compile_commands.json --\n" + string(p.commands) +
		"\n-- toolchain.txt --\n" + p.toolchain
	golden := filepath.Join("testdata", "plan.golden")
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
}

func TestPlanOptions(t *testing.T) {
	flags := func(edit func(*inputs)) string {
		in := sampleInputs()
		edit(&in)
		return " " + in.compileFlags(in.kernels[0]) + " "
	}
	tests := map[string]struct {
		edit             func(*inputs)
		present, absent_ string
	}{
		"release":   {func(*inputs) {}, " -O3 -g0 ", " -O0 "},
		"debug":     {func(in *inputs) { in.debug = true }, " -O0 -g ", " -O3 "},
		"gcc":       {func(*inputs) {}, " -fno-gnu-unique ", "tvm_ffi"},
		"clang":     {func(in *inputs) { in.compiler.clang = true }, " -Werror ", " -fno-gnu-unique "},
		"per file":  {func(*inputs) {}, " -mavx2 ", " -fopenmp "},
		"elsewhere": {func(in *inputs) { in.kernels[0] = "csrc/cpu/slow.cc" }, " -O3 ", " -mavx2 "},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := flags(tt.edit)
			if !strings.Contains(got, tt.present) || strings.Contains(got, tt.absent_) {
				t.Errorf("flags %q, want %q and not %q", got, tt.present, tt.absent_)
			}
		})
	}
}

func TestShellWords(t *testing.T) {
	got := shellWords("-O3", `-DX="a b"`, "it's", "")
	if want := `-O3 '-DX="a b"' 'it'\''s' ''`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
