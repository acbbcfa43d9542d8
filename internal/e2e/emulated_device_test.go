package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// On an emulated device, what the runtime does around kernels is right: contexts, streams, several devices, captures.
func TestEmulatedDevice(t *testing.T) {
	d := newEmulatedDevice(t)
	t.Log(run(t, d.program(t, "gpu_emulated_test.cu", "backend/opcast")))
	for name, fault := range plantedAroundKernels {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.CopyFS(filepath.Join(dir, "opcast"), os.DirFS(filepath.Join(root(t), "backend", "opcast"))); err != nil {
				t.Fatal(err)
			}
			edit(t, filepath.Join(dir, "opcast", fault.file), fault.was, fault.is)
			out, err := d.program(t, "gpu_emulated_test.cu", filepath.Join(dir, "opcast")).CombinedOutput()
			if err == nil || !strings.Contains(string(out), fault.found) {
				t.Errorf("printed %q, error %v; want it to fail with %q", out, err, fault.found)
			}
		})
	}
}

// Each call of the driver that the runtime makes fails once.
func TestEmulatedDeviceFails(t *testing.T) {
	d := newEmulatedDevice(t)
	if out := run(t, d.program(t, "gpu_faults_test.cu", "backend/opcast")); !strings.HasSuffix(out, " 77 faults\n") {
		t.Errorf("printed %q", out)
	}
}

// plantedAroundKernels are mistakes in the runtime that the test of the emulated device must find.
var plantedAroundKernels = map[string]struct{ file, was, is, found string }{
	"guard not restored":       {"gpu_cuda.cu", "if (changed_) The", "if (false) The", "nothing was current, something is"},
	"guard restores a device":  {"gpu_cuda.cu", "set_(before); }", "int now = 0; cudaGetDevice(&now); cudaSetDevice(before ? now : 0); }", "a context was made on device 0"},
	"wrong stream":             {"start_cuda.h", "static_cast<cudaStream_t>(launch.stream)", "launch.stream ? nullptr : nullptr", "a kernel ran elsewhere than on its stream"},
	"memory on another stream": {"gpu_cuda.cu", "data, 0, bytes, static_cast<cudaStream_t>(stream)", "data, 0, bytes, stream ? nullptr : nullptr", "memory was zeroed elsewhere"},
	"wrong device":             {"gpu_cuda.cu", "error = device_(device, number)", "error = device_(device, 0 * number)", "not on device 1"},
	"wait in a capture":        {"gpu_cuda.cu", "return Checked(cudaMemsetAsync(", "cudaStreamSynchronize(static_cast<cudaStream_t>(stream));\n  return Checked(cudaMemsetAsync(", "failed: launch"},
	"a read in a capture":      {"gpu_cuda.cu", "if (captures)", "if (false)", "operation not permitted when stream is capturing"},
	"another architecture":     {"gpu_cuda.cu", "*arch = 10 * major + minor", "*arch = 10 * major + minor + 1", "failed: 91"},
	"an error that stays":      {"start_cuda.h", "  cudaGetLastError();  // or", "  // or", "a refused launch leaves an error"},
}

// Each call of HIP that the runtime for AMD's GPUs makes fails, and each of its functions that returns an error does so at least once.
func TestEmulatedHIPFails(t *testing.T) {
	units, err := os.ReadFile(filepath.Join(root(t), "backend", "opcast", "gpu_hip_units.hip"))
	if err != nil {
		t.Fatal(err)
	}
	program := newEmulatedHIP(t).program(t, "gpu_hip_faults_test.hip", "backend/opcast")
	for _, found := range regexp.MustCompile(`OPCAST_FIND\(\w+, (hip\w+)\)`).FindAllSubmatch(units, -1) {
		if name := string(found[1]); name != "hipGetLastError" && name != "hipGetErrorString" {
			program.Args = append(program.Args, name)
		}
	}
	if out := run(t, program); !strings.HasSuffix(out, " 132 faults\n") {
		t.Errorf("printed %q", out)
	}
}

// emulatedDevice is an emulated driver, compiled, and the objects of tests that do not change.
type emulatedDevice struct {
	dir, driver    string
	runtime, flags []string
}

func newEmulatedDevice(t *testing.T) emulatedDevice {
	t.Helper()
	return newEmulation(t, emulatedDevice{driver: "libcuda.so.1", runtime: []string{"gpu_cuda.cu"}}, []string{"cudart", "emulator", "fiber"})
}

// newEmulatedHIP is the same for AMD's GPUs, of which there are a gfx90a and a gfx942.
func newEmulatedHIP(t *testing.T) emulatedDevice {
	t.Helper()
	return newEmulation(t, emulatedDevice{
		driver: "libamdhip64.so.7", runtime: []string{"gpu_hip.hip", "gpu_hip_units.hip"},
		flags: []string{"-DOPCAST_ROCM=1", `-DOPCAST_ROCM_ARCHS="gfx90a,gfx942"`},
	}, []string{"emulator", "fiber"}, filepath.Join(root(t), "backend/emulator/hip_runtime.cc"))
}

// newEmulation compiles the driver, of which some units are part beside the usual ones, and the objects.
func newEmulation(t *testing.T, d emulatedDevice, objects []string, units ...string) emulatedDevice {
	t.Helper()
	d.dir = sharedFolder(t, "emulated-"+d.driver, func(dir string) {
		build := func(output string, args ...string) {
			words := append([]string{"c++", "-std=c++17", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-fPIC", "-pthread", "-I", "backend",
				"-I", "backend/gen", "-I", "backend/emulator", "-DOPCAST_EMULATOR", "-o", filepath.Join(dir, output)}, args...)
			run(t, command(t, root(t), append(words, d.flags...)...))
		}
		units = append(units, glob(t, filepath.Join(root(t), "backend/emulator/driver_*.cc"))...)
		build(d.driver, append([]string{"-shared", "-Wl,-soname," + d.driver}, units...)...)
		for _, unit := range objects {
			build(unit+".o", "-c", "backend/emulator/"+unit+".cc")
		}
	})
	return d
}

// program compiles a test with the runtime in a folder.
func (d emulatedDevice) program(t *testing.T, test, runtime string) *exec.Cmd {
	t.Helper()
	words := append([]string{"-DOPCAST_EMULATOR", "-iquote", filepath.Dir(runtime), "-I", "backend/emulator", "-x", "c++"}, d.flags...)
	for _, unit := range d.runtime {
		words = append(words, filepath.Join(runtime, unit))
	}
	words = append(words, filepath.Join("backend/tests", test), "-x", "none")
	words = append(words, glob(t, filepath.Join(d.dir, "*.o"))...)
	program := cppProgram(t, append(words, filepath.Join(d.dir, d.driver), "-Wl,-rpath,"+d.dir, "-ldl")...)
	return command(t, root(t), program)
}
