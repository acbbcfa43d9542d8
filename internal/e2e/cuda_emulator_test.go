package e2e

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/opdef/load"
	"github.com/opcast/opcast/internal/tooltest"
)

// emulated is the manifest of a collection whose kernels for CUDA run on the emulator, as kernels for the CPU.
const emulated = `
name = "emulated"
namespace = "opcast"
version = "0.1.0"
license = "Apache-2.0"
adaptors = ["numpy"]
devices = ["cpu"]
sources = ["csrc/*.cc"]
include = ["csrc"]
defines = ["OPCAST_EMULATOR"]
[[files]]
match = "**/*.cc"
flags = ["-O1"]
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
// written that is not theirs. What surrounds a kernel is the same for all. They run on the emulator, so this says nothing of a
// GPU's tensor cores, streams and speed.
func TestCUDAKernelsOnTheEmulator(t *testing.T) {
	t.Parallel()
	python := borrowed(t)
	dir := emulatedProject(t)
	tool := tooltest.Path(t)
	run(t, command(t, dir, tool, "build", "--python", python))
	only := filepath.Join(dir, "only")
	write(t, only, []byte(valuesOfKernels+memoryOfKernels))
	t.Log(run(t, command(t, dir, tool, "test", "--no-build", "--only", only, "--python", python)))
	t.Run("rows", func(t *testing.T) { compares(t, dir, rowsScript, "378") })
	t.Run("hostile", func(t *testing.T) { compares(t, dir, hostileScript, "1932") })
	t.Run("products", func(t *testing.T) { compares(t, dir, productsScript, "16") })
}

//go:embed cuda_rows.py
var rowsScript string

//go:embed cuda_products.py
var productsScript string

// compares runs a script that calls the emulated collection, and expects it to have compared so many arrays.
func compares(t *testing.T, emulated, script, want string) {
	t.Helper()
	cmd := command(t, t.TempDir(), python(t), "-P", "-c", script, "emulated_numpy")
	cmd.Env = append(os.Environ(), "PYTHONPATH="+filepath.Join(emulated, "adaptors/numpy/src")+
		string(os.PathListSeparator)+filepath.Join(emulated, "backend/python/src"))
	if got := strings.TrimSpace(run(t, cmd)); got != want {
		t.Errorf("compared %s arrays, want %s", got, want)
	}
}

// emulatedProject lays out a project with this repository's definitions and its kernels for CUDA.
func emulatedProject(t *testing.T) string {
	t.Helper()
	dir, repository := t.TempDir(), root(t)
	write(t, filepath.Join(dir, "opcast.toml"), []byte(emulated))
	for pattern, folder := range map[string]string{
		"csrc/cuda/*.cu": "csrc", "csrc/cuda/*.h": "csrc", "backend/tests/emulator/*": "csrc", "csrc/common/*.h": "csrc/common",
	} {
		for _, path := range glob(t, filepath.Join(repository, pattern)) {
			name := strings.TrimSuffix(filepath.Base(path), ".cu")
			if name != filepath.Base(path) {
				name += ".cc"
			}
			write(t, filepath.Join(dir, folder, name), checkBounds(t, path, read(t, path)))
		}
	}
	project, findings, err := load.Load(repository)
	if err != nil || len(findings) > 0 {
		t.Fatal(err, findings)
	}
	for _, op := range project.Ops {
		path := filepath.Join(repository, op.File)
		write(t, filepath.Join(dir, op.File), []byte(onEmulator(t, op, string(read(t, path)))))
		if op.ReferenceModule != "" {
			write(t, filepath.Join(dir, strings.TrimSuffix(op.File, ".toml")+".py"), []byte(op.ReferenceModule))
		}
	}
	return dir
}

var kernel = regexp.MustCompile(`__launch_bounds__\(([^,)]*)[^)]*\)[^{;]*\{`)

// checkBounds has every kernel of a source look at its launch bound, which is all that a GPU asks for before it runs
// the body. A kernel without a bound may be started with any block, and then needs more registers than there are.
func checkBounds(t *testing.T, path string, text []byte) []byte {
	t.Helper()
	if filepath.Base(filepath.Dir(path)) == "emulator" {
		return text
	}
	if kernels, bounds := strings.Count(string(text), "__global__"), len(kernel.FindAll(text, -1)); kernels != bounds {
		t.Errorf("%s: %d kernels, but %d with launch bounds", path, kernels, bounds)
	}
	return kernel.ReplaceAll(text, []byte("$0 ::opcast::device::StayWithin($1, __func__);"))
}

var (
	table    = regexp.MustCompile(`(?m)^\[`)
	archLine = regexp.MustCompile(`(?m)^arch = .*\n`)
)

// onEmulator is a definition whose kernels for CUDA are kernels for the CPU, and its only ones.
func onEmulator(t *testing.T, op *opdef.Op, text string) string {
	t.Helper()
	const cuda, cpu = `device = "cuda"`, `device = "cpu"`
	if len(op.Kernels) == 0 {
		return fmt.Sprintf("%s\n[[kernels]]\nname = \"%s_cuda\"\n%s\n", text, op.Name, cpu)
	}
	var kept strings.Builder
	begin, kernels := 0, 0
	for _, place := range append(table.FindAllStringIndex(text, -1), []int{len(text)}) {
		part := text[begin:place[0]]
		begin = place[0]
		isKernel := strings.HasPrefix(part, "[[kernels]]")
		if isKernel && strings.Contains(part, cuda) {
			part = archLine.ReplaceAllString(strings.Replace(part, cuda, cpu, 1), "")
			kernels++
		} else if isKernel {
			continue
		}
		kept.WriteString(part)
	}
	if kernels == 0 {
		t.Errorf("%s: no kernel for CUDA", op.Name)
	}
	return kept.String()
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
