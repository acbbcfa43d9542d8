package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/opcast/opcast/gen"
	"github.com/opcast/opcast/internal/build/compiler"
	"github.com/opcast/opcast/internal/build/pyenv"
	"github.com/opcast/opcast/internal/language/opdef/load"
)

// The runtime's tests are plain programs that end with "ok N checks": one for what kernels see, one for the rules on
// tensors as a C caller sends them.
func TestCPPRuntime(t *testing.T) {
	t.Parallel()
	cppTest(t, "runtime_test.cc", kernelSide, program{})
}

func TestCPPExact(t *testing.T) {
	t.Parallel()
	cppTest(t, "exact_test.cc", kernelSide, program{})
}

func TestCPPThreads(t *testing.T) {
	cppTest(t, "threads_test.cc", kernelSide, program{link: []string{"-ldl"}})
}

func TestCPPCPUs(t *testing.T) {
	t.Parallel()
	cppTest(t, "cpus_test.cc", kernelSide, program{})
}

func TestCPPJob(t *testing.T) {
	t.Parallel()
	cppTest(t, "job_test.cc", kernelSide, program{})
}

func TestCPPRules(t *testing.T) {
	t.Parallel()
	rulesTest(t, "ffi_test.cc")
}

func TestCPPOverlap(t *testing.T) {
	t.Parallel()
	rulesTest(t, "ffi_overlap_test.cc")
}

func TestCPPLeading(t *testing.T) {
	t.Parallel()
	rulesTest(t, "ffi_leading_test.cc")
}

func TestCPPLists(t *testing.T) {
	t.Parallel()
	rulesTest(t, "ffi_list_test.cc")
}

func rulesTest(t *testing.T, name string) {
	t.Helper()
	cppTest(t, name, func(name string) bool { return !callsFFI(name) }, program{flags: []string{"-isystem", tvmInclude(t)}})
}

// tvmInclude is the folder of tvm-ffi's headers.
func tvmInclude(t *testing.T) string {
	t.Helper()
	return tvm(t).TVMInclude
}

func tvm(t *testing.T) *pyenv.Env {
	t.Helper()
	env, err := pyenv.Find(t.Context(), pyenv.Query{Python: python(t), Getenv: os.Getenv})
	if err != nil {
		t.Fatal(err)
	}
	return env
}

// Generated exports run with tvm-ffi itself. Every golden of the generator compiles.
func TestCPPExports(t *testing.T) {
	t.Parallel()
	exportsTest(t, "export_test.cc", "writes")
}

func TestCPPRegistry(t *testing.T) {
	t.Parallel()
	exportsTest(t, "registry_test.cc", "kernels")
}

func TestCPPRegistered(t *testing.T) {
	t.Parallel()
	exportsTest(t, "registered_test.cc", "kernels")
}

func TestCPPOpCall(t *testing.T) {
	t.Parallel()
	exportsTest(t, "op_call_test.cc", "kernels")
}

func TestCPPMake(t *testing.T) {
	t.Parallel()
	exportsTest(t, "make_test.cc", "kernels")
}

func TestCPPTuned(t *testing.T) {
	t.Parallel()
	exportsTest(t, "tuned_test.cc", "params")
}

// Devices that there cannot be are refused everywhere, with a GPU and without.
func TestCPPDevices(t *testing.T) {
	t.Parallel()
	exportsTest(t, "device_test.cc", "kernels")
	exportsTest(t, "device_test.cc", "kernels", "-DOPCAST_CUDA=1", `-DOPCAST_CUDA_ARCHS="80,90"`)
}

// The same dispatch in a library for CUDA, on a stand-in for the GPU.
func TestCPPRegistryCUDA(t *testing.T) {
	t.Parallel()
	exportsTest(t, "registry_test.cc", "kernels", "-DOPCAST_CUDA=1", `-DOPCAST_CUDA_ARCHS="80,90"`)
}

// A library for AMD's GPUs has code for exactly the architectures that it names.
func TestCPPRegistryROCm(t *testing.T) {
	exportsTest(t, "rocm_test.cc", "kernels", "-DOPCAST_ROCM=1", `-DOPCAST_ROCM_ARCHS="gfx90a,gfx908"`)
}

func exportsTest(t *testing.T, test, golden string, flags ...string) {
	t.Helper()
	dir, env := generated(t, golden), tvm(t)
	all := func(string) bool { return true }
	cppTest(t, test, all, program{
		sources: glob(t, filepath.Join(dir, "*.cc")),
		flags:   append(flags, "-O0", "-I", dir, "-isystem", env.TVMInclude),
		link:    []string{env.TVMLibrary, "-Wl,-rpath," + filepath.Dir(env.TVMLibrary), "-ldl"},
	})
}

func TestGeneratedCPPCompiles(t *testing.T) {
	t.Parallel()
	goldens, err := filepath.Glob(filepath.Join(root(t), "gen", "testdata", "*.txtar"))
	if err != nil || len(goldens) == 0 {
		t.Fatalf("no goldens: %v", err)
	}
	backend, include := filepath.Join(root(t), "backend"), tvmInclude(t)
	for _, golden := range goldens {
		name := strings.TrimSuffix(filepath.Base(golden), ".txtar")
		if name == "writes" || name == "kernels" || name == "params" {
			continue // run above
		}
		t.Run(name, func(t *testing.T) {
			dir := generated(t, name)
			units, err := filepath.Glob(filepath.Join(dir, "*.cc"))
			if err != nil {
				t.Fatal(err)
			}
			args := []string{"c++", "-std=c++17", "-Wall", "-Wextra", "-Wconversion", "-Wno-float-conversion", "-Werror", "-fsyntax-only",
				"-I", dir, "-I", backend, "-isystem", include}
			run(t, command(t, backend, append(args, units...)...))
		})
	}
}

// generated is the folder of the C++ that the generator makes of the project in one of its goldens.
func generated(t *testing.T, golden string) string {
	t.Helper()
	folder := filepath.Join("backend", "gen")
	dir := sharedFolder(t, "generated-"+golden, func(dir string) { generate(t, golden, folder, dir) })
	return filepath.Join(dir, folder)
}

// generate writes the project of a golden and what the generator makes of it for one folder.
func generate(t *testing.T, golden, folder, dir string) {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join(root(t), "gen", "testdata", golden+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.Files {
		if name, in := strings.CutPrefix(f.Name, "in/"); in {
			write(t, filepath.Join(dir, name), f.Data)
		}
	}
	project, list, err := load.Load(dir)
	if err != nil || len(list) > 0 {
		t.Fatalf("load: %v %v", err, list)
	}
	files, err := gen.Generate(project)
	if err != nil {
		t.Fatalf("generate: %v", err)
	}
	for _, f := range files {
		if filepath.Dir(f.Path) == folder {
			write(t, filepath.Join(dir, f.Path), f.Content)
		}
	}
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
}

// kernelSide are the units of the runtime without tvm-ffi's headers, callsFFI those that need its library.
func kernelSide(name string) bool { return !strings.HasPrefix(name, "ffi") && !callsFFI(name) }

func callsFFI(name string) bool {
	return name == "ffi_export.cc" || slices.ContainsFunc([]string{"registry", "registered", "op_call", "objects"},
		func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// program is what a test adds to itself and the runtime: sources, options to compile all of it, and what it is linked with.
type program struct{ sources, flags, link []string }

// cppTest compiles a test with the wanted units of the runtime and runs it. Every unit is compiled by itself, so that a
// cache has it ready for the next test.
func cppTest(t *testing.T, test string, wanted func(name string) bool, p program) {
	t.Helper()
	backend, dir := filepath.Join(root(t), "backend"), t.TempDir()
	sources := append([]string{filepath.Join(backend, "tests", test)}, p.sources...)
	for _, unit := range glob(t, filepath.Join(backend, "opcast", "*.cc")) {
		if wanted(filepath.Base(unit)) {
			sources = append(sources, unit)
		}
	}
	cxx := cxxWords(t)
	flags := append([]string{"-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread", "-ffp-contract=off",
		`-DOPCAST_COLLECTION="test"`, "-I", backend, "-I", filepath.Join(backend, "gen")}, p.flags...)
	linker := slices.Concat(cxx, []string{"-pthread", "-o", filepath.Join(dir, "test")})
	for i, source := range sources {
		object := filepath.Join(dir, fmt.Sprint(i, ".o"))
		run(t, command(t, backend, slices.Concat(cxx, flags, []string{"-c", source, "-o", object})...))
		linker = append(linker, object)
	}
	run(t, command(t, backend, append(linker, p.link...)...))
	t.Log(run(t, command(t, backend, filepath.Join(dir, "test"))))
}

// A kernel that counts dims from the beginning does not compile, or ends without optimisation.
func TestCPPStride(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	source, program := filepath.Join(dir, "stride.cc"), filepath.Join(dir, "stride")
	write(t, source, []byte(`#include "opcast/layout.h"
int64_t Stride(const opcast::Layout& x) { return x.Stride(DIM); }
int main() { const int64_t sizes[] = {2, 3}; return Stride({2, sizes, sizes, 1}) < 2; }
`))
	for _, test := range []struct{ flags, want string }{
		{"-O2 -DDIM=-2", ""}, {"-O0 -DDIM=-1", ""},
		{"-O2 -DDIM=0", "Layout::Stride counts dimensions from the end: -1 is the last"},
		{"-O0 -DDIM=0", "opcast: Stride(0) of an array with 2 dimensions: expected -2 to -1"},
		{"-O0 -DDIM=-3", "opcast: Stride(-3) of an array with 2 dimensions: expected -2 to -1"},
	} {
		words := slices.Concat(cxxWords(t), strings.Fields(test.flags), []string{"-std=c++17", "-I", filepath.Join(root(t), "backend"), source, "-o", program})
		out, err := command(t, dir, words...).CombinedOutput()
		if err == nil {
			out, err = command(t, dir, program).CombinedOutput()
		}
		if err == nil != (test.want == "") || !strings.Contains(string(out), test.want) {
			t.Errorf("%s: %v, got %q, want %q", test.flags, err, out, test.want)
		}
	}
}

// cxxWords are the command of the C++ compiler.
func cxxWords(t *testing.T) []string {
	t.Helper()
	found, err := compiler.FindCXX(t.Context(), os.Getenv)
	if err != nil {
		t.Skip(err)
	}
	return found.Words
}
