package build

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opcast/opcast/internal/build/compiler"
	"github.com/opcast/opcast/internal/build/pyenv"
	"github.com/opcast/opcast/internal/build/tree"
	"github.com/opcast/opcast/internal/language/framework"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/manifest"
	"github.com/opcast/opcast/internal/system/ninja"
	"github.com/opcast/opcast/internal/testkit/tooltest"
)

func sampleInputs() inputs {
	jax, _ := framework.ByName("jax")
	return inputs{
		project: &opdef.Project{Dir: "/home/me/my kernels", Manifest: manifest.Manifest{
			Name: "demo", Include: []string{"third_party"}, Defines: []string{`NOTE="a b"`}, Link: []string{"-lfoo"},
			Files: []manifest.FileFlags{{Match: "csrc/**/fast*.cc", Flags: []string{"-mavx2"}}},
		}},
		env: &pyenv.Env{TVMInclude: "/site/tvm_ffi/include", Includes: map[string]string{"jaxlib": "/site/jaxlib/include"},
			Packages: map[string]string{"apache-tvm-ffi": "0.1.15", "jaxlib": "0.10.2"}},
		compiler: compiler.CXX{Words: []string{"ccache", "g++"}, Identity: "g++ 12.2.0\n"}, digest: "d16e57",
		runtime:  tree.Runtime{Root: "build/runtime"},
		kernels:  []string{"csrc/cpu/fast one.cc", "csrc/ffi/plan.cc"},
		backend:  []string{"build/runtime/opcast/ffi.cc", "build/runtime/opcast/parallel.cc", "backend/gen/scale.gen.cc"},
		handlers: []handlers{{Framework: jax, sources: []string{"adaptors/jax/csrc/xla_call.cc"}}},

		libraries: []string{"third/lib x.a"},
	}
}

// sampleCUDA is the sample with CUDA sources.
func sampleCUDA() inputs {
	in := sampleInputs()
	in.cuda = &compiler.CUDA{NVCC: "/site/cu13/bin/nvcc", Libraries: "/site/cu13/lib", Identity: "nvcc 13.2.86\n"}
	in.project.Manifest.CUDA = manifest.CUDA{Arch: []string{"80", "90+PTX"}, Flags: []string{"--use_fast_math"}}
	in.project.Manifest.Files = []manifest.FileFlags{{Match: "csrc/cuda/*_sm90.cu", Arch: []string{"90a"}, Flags: []string{"-maxrregcount=64"}}}
	in.project.Manifest.Defines = []string{`PAIR="a,b"`}
	in.kernels = []string{"csrc/cpu/scale.cc", "csrc/cuda/scale.cu", "csrc/cuda/scale_sm90.cu"}
	in.backend = []string{"build/runtime/opcast/build_id.cc", "build/runtime/opcast/registry.cc", "build/runtime/opcast/gpu_cuda.cu"}
	return in
}

// The goldens hold every text of a plan; UPDATE=1 rewrites them.
func TestPlanGolden(t *testing.T) {
	for name, in := range map[string]inputs{"plan": sampleInputs(), "plan_cuda": sampleCUDA()} {
		t.Run(name, func(t *testing.T) { planGolden(t, filepath.Join("testdata", name+".golden"), in) })
	}
}

func planGolden(t *testing.T, golden string, in inputs) {
	t.Helper()
	p, err := newPlan(in)
	if err != nil {
		t.Fatal(err)
	}
	file := p.file(p.path("work"), p.units[:2], p.libraries)
	file.Vars = append(in.machine(p.id), file.Vars...)
	text, err := file.Text()
	if err != nil {
		t.Fatal(err)
	}
	commands, err := p.compileCommands()
	if err != nil {
		t.Fatal(err)
	}
	got := "-- build.ninja of two units --\n" + text + "-- build.ninja of all, on any machine --\n" + p.portable +
		"-- compile_commands.json --\n" + string(commands)
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
		unit, err := in.unitFlags(in.kernels[0])
		if err != nil {
			t.Fatal(err)
		}
		return " " + ninja.Expand(unit, append(in.machine("0f"), in.flags()...)) + " "
	}
	tests := map[string]struct {
		edit             func(*inputs)
		present, absent_ string
	}{
		"release": {func(*inputs) {}, " -O3 -g0 ", " -O0 "},
		"debug":   {func(in *inputs) { in.debug = true }, " -O0 -g ", " -O3 "},
		"sanitizer": {func(in *inputs) {
			in.project.Manifest.Build.Werror, in.sanitizer = true, &Sanitizer{flags: []string{"-fsanitize=thread"}}
		}, " -O1 -g1 -fsanitize=thread ", " -Werror "},
		"gcc":   {func(*inputs) {}, " -fno-gnu-unique ", "tvm_ffi"},
		"clang": {func(in *inputs) { in.compiler.Clang = true }, " -Wall ", " -fno-gnu-unique "},
		"clang's conversions": {func(in *inputs) {
			in.project.Manifest.Build.Werror, in.compiler.Clang = true, true
		}, " -Werror ", " -Wconversion "},
		"warnings":  {func(*inputs) {}, " -Wall -Wextra ", " -Werror "},
		"werror":    {func(in *inputs) { in.project.Manifest.Build.Werror = true }, " -Werror -Wconversion ", " -fopenmp "},
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

func TestFindSourcesErrors(t *testing.T) {
	dir := t.TempDir()
	tooltest.Write(t, filepath.Join(dir, "cuda", "k.cu"), "")
	in := inputs{project: &opdef.Project{Dir: dir, Manifest: manifest.Manifest{Devices: []string{"cpu"}}}}
	for pattern, want := range map[string]string{"cuda/*": `do not name "cuda"`} {
		in.project.Manifest.Sources = []string{pattern}
		if err := in.findUnits(demoRuntime, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q in it", pattern, err, want)
		}
	}
}
