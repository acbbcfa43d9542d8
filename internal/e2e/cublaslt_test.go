package e2e

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/build"
	"github.com/opcast/opcast/internal/results/report"
	"github.com/opcast/opcast/internal/testkit/tooltest"
)

// plantedAroundCublasLt are mistakes in how kernels call cuBLASLt, by the file that has them, and what the suite, or the fake library,
// says of each.
var plantedAroundCublasLt = map[string]struct{ file, was, is, found string }{
	"leading dimension":    {"csrc/cuda/matmul/cublaslt_rows.h", "rows, length, rows * length", "rows, length + 1, rows * length", "gemm_cublaslt"},
	"transposition":        {"csrc/cuda/matmul/cublaslt.h", "if (p.a.transposed) Set(kTransA, kTransposed, outcome);", "", "sizes do not fit"},
	"vector of the bias":   {"csrc/cuda/matmul/cublaslt.h", "Set(kBiasPointer, at.bias, outcome);", "", "the epilogue has no vector"},
	"size of an attribute": {"csrc/cuda/matmul/cublaslt.h", "static_cast<uint32_t>(p.epilogue)", "static_cast<uint64_t>(p.epilogue)", "an attribute of another size"},
	"alignment":            {"csrc/cuda/matmul/cublaslt.h", "set(which, kAlignment);", "set(which, 1024 * kAlignment);", "an array is not aligned"},
	"reductions":           {"csrc/cuda/matmul/cublaslt.h", "set(kReductionSchemes, kInComputeType);", "", "T = float32"},
	"workspace":            {"csrc/cuda/matmul/gemm_cublaslt.cu", "at.workspace = args.workspace;", "", "the workspace is too small"},
	"stream":               {"csrc/cuda/matmul/cublaslt.h", "plan->found.workspace, launch.stream", "plan->found.workspace, nullptr", "gemm_cublaslt"},
	"capture":              {"csrc/cuda/matmul/cublaslt.h", "mode_ = cudaStreamCaptureModeRelaxed", "mode_ = cudaStreamCaptureModeGlobal", "lacks a GPU on which cublasLtCreate succeeds"},
	"promise":              {"opdefs/matmul/gemm.toml", "parallel = []\n", "", "got "},
}

// checksOfCublasLt are those that a kernel passes on the emulated device with the fake library.
const checksOfCublasLt = `gemm backend value
gemm backend split
gemm backend variants
gemm backend transposed
gemm backend side-stream
gemm backend graph
`

//go:embed cublaslt_capture.py
var captureScript string

// The kernels that call cuBLASLt pass the suite with a library that judges every argument by NVIDIA's documentation, and each mistake
// in a call is found (with -short, one is tried). Without a library, they say so, and the next kernel runs.
func TestCublasLt(t *testing.T) {
	t.Parallel()
	python, tool, dir := withoutTorch(t), tooltest.Path(t), cublasLtProject(t)
	make_ := func() { run(t, command(t, dir, tool, "build", "--device", "emulated", "--python", python)) }
	only, result := filepath.Join(dir, "only"), filepath.Join(dir, "build", "report", "report.json")
	test := func(checks string) (string, error) {
		write(t, only, []byte(checks))
		out, err := command(t, dir, tool, "test", "--device", "emulated", "--no-build", "--only", only, "--python", python).CombinedOutput()
		return string(out), err
	}
	make_()
	if out, err := test("* backend value\n"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, r := range byCublasLt(t, result) {
		if !strings.HasPrefix(r.Reason, "this machine lacks libcublasLt.so.13 and ") {
			t.Errorf("%s without a library: %s %s", r.Kernel, r.Status, r.Reason)
		}
	}
	fakeCublasLt(t, dir)
	all := checksOfCublasLt
	for _, op := range []string{"gemm_a8w8", "gemm_backward"} {
		all += op + " backend value\n" + op + " backend split\n"
	}
	if out, err := test(all); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for line := range strings.Lines(all) {
		words := strings.Fields(line)
		passed := func(r report.Result) bool { return r.Op == words[0] && r.Check == words[2] && r.Status == report.Pass }
		if !slices.ContainsFunc(byCublasLt(t, result), passed) {
			t.Errorf("%s of %s has not passed", words[2], words[0])
		}
	}
	capture := func() (string, error) { return captureOfCublasLt(t, dir, python) }
	if out, err := capture(); err != nil || out != "[8.0, 8.0, 8.0, 8.0]" {
		t.Errorf("the graph wrote %s, %v", out, err)
	}
	for name, planted := range plantedAroundCublasLt {
		if testing.Short() && name != "capture" {
			continue // which costs no run of the suite
		}
		right := read(t, filepath.Join(dir, planted.file))
		edit(t, filepath.Join(dir, planted.file), planted.was, planted.is)
		make_()
		find := func() (string, error) { return test(checksOfCublasLt) }
		if name == "capture" {
			find = capture
		}
		if out, err := find(); err == nil || !strings.Contains(out, planted.found) {
			t.Errorf("%s: error %v; want it to fail with %q:\n%s", name, err, planted.found, out)
		}
		write(t, filepath.Join(dir, planted.file), right)
	}
}

// captureOfCublasLt runs the script that captures the first call, and returns what it prints.
func captureOfCublasLt(t *testing.T, dir, python string) (string, error) {
	t.Helper()
	cmd := command(t, t.TempDir(), python, "-c", captureScript)
	folders := []string{filepath.Join(root(t), "conformance", "internal", "worker"), filepath.Join(dir, "backend", "python", "src")}
	cmd.Env = append(os.Environ(), "PYTHONSAFEPATH=1", "PYTHONPATH="+strings.Join(folders, string(os.PathListSeparator)),
		"LD_LIBRARY_PATH="+build.DriverIn(dir, build.Emulated))
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// byCublasLt are the results of a report about kernels that call the library.
func byCublasLt(t *testing.T, file string) (list []report.Result) {
	t.Helper()
	r, err := report.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range r.Results {
		if strings.HasSuffix(x.Kernel, "_cublaslt") {
			list = append(list, x)
		}
	}
	if len(list) == 0 {
		t.Fatalf("%s has no result of a kernel that calls cuBLASLt", file)
	}
	return list
}

// cublasLtProject lays out a project with the definitions and kernels that cuBLASLt has a part in.
func cublasLtProject(t *testing.T) string {
	t.Helper()
	dir, repository := t.TempDir(), root(t)
	write(t, filepath.Join(dir, "opcast.toml"), fmt.Appendf(nil, emulated, 32))
	var files []string
	for _, pattern := range []string{"opdefs/matmul/gemm*", "csrc/common/*", "csrc/cuda/lib/*.h", "csrc/cuda/matmul/*.h", "csrc/cuda/matmul/gemm*.cu"} {
		for _, file := range glob(t, filepath.Join(repository, pattern)) {
			if !strings.Contains(file, "w4a16") && !strings.Contains(file, "blockscale") {
				files = append(files, file)
			}
		}
	}
	for _, file := range files {
		name, err := filepath.Rel(repository, file)
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, name), read(t, file))
	}
	return dir
}

// fakeCublasLt puts the fake library where the driver of a project's emulated device lies.
func fakeCublasLt(t *testing.T, dir string) {
	t.Helper()
	library := filepath.Join(build.DriverIn(dir, build.Emulated), "libcublasLt.so.13")
	words := []string{"c++", "-std=c++17", "-O1", "-fPIC", "-shared", "-fvisibility=hidden", "-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas",
		"-DOPCAST_EMULATOR", "-DOPCAST_CUDA=1", "-I", "backend", "-I", "backend/emulator", "-I", "backend/gen", "-pthread", "-o", library,
		"-x", "c++", "csrc/tests/fake_cublaslt.cu"}
	for _, part := range []string{"cudart", "emulator", "fiber"} {
		words = append(words, "backend/emulator/"+part+".cc")
	}
	run(t, command(t, root(t), append(words, "-ldl")...))
}

// What kernels declare of cuBLASLt is what NVIDIA's header says.
func TestCublasLtHeader(t *testing.T) {
	headers := filepath.Join(tvm(t).Site, "nvidia", "cu13", "include")
	if _, err := os.Stat(filepath.Join(headers, "cublasLt.h")); err != nil {
		t.Skip("no header of cuBLASLt")
	}
	t.Log(run(t, command(t, root(t), cppProgram(t, "-Wno-enum-compare", "-I", "csrc", "-isystem", headers, "csrc/tests/cublaslt_header_test.cc", "-ldl"))))
}
