package e2e

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/build"
	"github.com/opcast/opcast/internal/testkit/tooltest"
)

// emulated is the manifest of a collection whose only kernels are those for CUDA, with warps of so many threads.
const emulated = `
name = "emulated"
namespace = "opcast"
version = "0.1.0"
license = "Apache-2.0"
adaptors = ["numpy"]
devices = ["cpu", "cuda"]
sources = ["csrc/cuda/**/*.cu"]
include = ["csrc"]
defines = ["OPCAST_EMULATOR_WARP=%d"]
[cuda]
arch = ["80", "90"]
`

// memoryOfKernels are the checks that tell which memory a kernel reads and writes, and how.
const memoryOfKernels = `
* backend scratch
* backend mutated
* backend inputs-unchanged
* backend saved
* backend misaligned
* backend transposed
* backend sliced
* backend contents
* backend repeated
`

// Every op's kernels for CUDA give what the suite wants of kernels: values, shapes, dtypes, strides, empty arrays, and nothing
// written that is not theirs. They run on the emulated device, so this says nothing of a GPU's tensor cores and speed.
func TestCUDAKernelsOnTheEmulator(t *testing.T) {
	t.Parallel()
	ops := perFamily(t, sampleOf(t, "cross_entropy", "eltwise_add", "eltwise_relu", "embedding", "flash_mla_decode", "fused_add_rms_norm", "gelu", "gemm",
		"layernorm2d", "per_tensor_quant", "per_token_quant", "rms_norm", "silu_and_mul", "softmax", "swigluoai_and_mul"))
	checks := valuesOfKernels + memoryOfKernels + surroundingsOfKernels
	if testing.Short() { // the scripts have larger arrays and harder numbers
		checks = "* backend value\n* backend zero-size\n* backend numbers\n"
		for _, op := range onePerFamily(t, ops) {
			checks += strings.ReplaceAll("* backend attrs\n* backend optional\n* backend split\n"+memoryOfKernels+surroundingsOfKernels, "*", op)
		}
	}
	dir := testedOnTheEmulator(t, 32, ops, checks)
	t.Run("rows", func(t *testing.T) { compares(t, dir, rowsScript, "446") })
	t.Run("hostile", func(t *testing.T) { compares(t, dir, hostileScript, hostileArrays) })
	t.Run("products", func(t *testing.T) { compares(t, dir, productsScript, "16") })
	t.Run("device", func(t *testing.T) { compares(t, dir, deviceScript, "36") })
}

// On AMD's GPUs, 64 threads run together: then each thread of a row has other columns, and fewer warps share a block's work.
func TestCUDAKernelsOfWideWarps(t *testing.T) {
	t.Parallel()
	testedOnTheEmulator(t, 64, sampleOf(t, "layernorm2d", "silu_and_mul"), "* backend value\n")
}

// testedOnTheEmulator builds the kernels of ops for CUDA for warps of so many threads, runs the checks on the emulated device, and
// returns the project's folder.
func testedOnTheEmulator(t *testing.T, warp int, ops []string, checks string) (dir string) {
	t.Helper()
	python, tool := borrowed(t), tooltest.Path(t)
	dir = emulatedProject(t, warp, ops)
	run(t, command(t, dir, tool, "build", "--device", "emulated", "--python", python))
	only := filepath.Join(dir, "only")
	write(t, only, []byte(checks))
	t.Log(run(t, command(t, dir, tool, "test", "--device", "emulated", "--no-build", "--only", only, "--python", python)))
	return dir
}

// surroundingsOfKernels are the checks of what is around a kernel on a GPU.
const surroundingsOfKernels = `
* backend side-stream
* backend graph
* native value
* op_call value
`

//go:embed cuda_rows.py
var rowsScript string

//go:embed emulated_device.py
var deviceScript string

//go:embed cuda_products.py
var productsScript string

// compares runs a script that calls the emulated collection, and expects it to have compared so many arrays.
func compares(t *testing.T, emulated, script, want string) {
	t.Helper()
	cmd := command(t, t.TempDir(), python(t), "-c", script, "emulated_numpy")
	folders := []string{filepath.Join(root(t), "internal", "e2e"), filepath.Join(root(t), "conformance", "internal", "worker"),
		filepath.Join(emulated, "backend", "python", "src")}
	cmd.Env = append(os.Environ(), "PYTHONSAFEPATH=1", "PYTHONPATH="+strings.Join(folders, string(os.PathListSeparator)),
		"LD_LIBRARY_PATH="+build.DriverIn(emulated, build.Emulated), "OPCAST_EMULATED_DEVICES=90,80,75")
	if got := strings.TrimSpace(run(t, cmd)); got != want {
		t.Errorf("compared %s arrays, want %s", got, want)
	}
}

// emulatedProject lays out a project with ops of this repository and their kernels for CUDA.
func emulatedProject(t *testing.T, warp int, ops []string) string {
	t.Helper()
	dir, repository := t.TempDir(), root(t)
	write(t, filepath.Join(dir, "opcast.toml"), fmt.Appendf(nil, emulated, warp))
	for _, folder := range []string{"opdefs", "csrc/cuda", "csrc/common"} {
		if err := os.CopyFS(filepath.Join(dir, folder), os.DirFS(filepath.Join(repository, folder))); err != nil {
			t.Fatal(err)
		}
	}
	keepOps(t, dir, ops, "opdefs/*/*", "csrc/cuda/*/*.cu")
	for _, path := range glob(t, filepath.Join(dir, "csrc/cuda/*/*.[ch]*")) { // .cu and .h
		write(t, path, checkBounds(t, path, read(t, path)))
	}
	return dir
}

// keepOps removes the definitions of other ops from a project, and the sources of their kernels.
func keepOps(t *testing.T, dir string, names []string, definitions, sources string) {
	t.Helper()
	for _, path := range glob(t, filepath.Join(dir, definitions)) {
		if name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)); !slices.Contains(names, name) {
			remove(t, path)
		}
	}
	for _, path := range glob(t, filepath.Join(dir, sources)) {
		for _, match := range generatedHeader.FindAllStringSubmatch(string(read(t, path)), -1) {
			if !slices.Contains(names, match[1]) {
				remove(t, path)
				break
			}
		}
	}
}

// generatedHeader is how a source says whose kernel it has.
var generatedHeader = regexp.MustCompile(`#include "(\w+)\.gen\.h"`)

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

var kernel = regexp.MustCompile(`__launch_bounds__\(([^,)]*)[^)]*\)[^{;]*\{`)

// checkBounds has every kernel of a source look at its launch bound, which is all that a GPU asks for before it runs
// the body. A kernel without a bound may be started with any block, and then needs more registers than there are.
func checkBounds(t *testing.T, path string, text []byte) []byte {
	t.Helper()
	if kernels, bounds := strings.Count(string(text), "__global__"), len(kernel.FindAll(text, -1)); kernels != bounds {
		t.Errorf("%s: %d kernels, but %d with launch bounds", path, kernels, bounds)
	}
	return kernel.ReplaceAll(text, []byte("$0 ::opcast::device::StayWithin($1, __func__);"))
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("%s: nothing there (%v)", pattern, err)
	}
	return paths
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
