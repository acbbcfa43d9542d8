package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
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
	t.Log(run(t, d.program(t, "gpu_faults_test.cu", "backend/opcast")))
}

// plantedAroundKernels are mistakes in the runtime that the test of the emulated device must find.
var plantedAroundKernels = map[string]struct{ file, was, is, found string }{
	"guard not restored":       {"gpu_cuda.cu", "if (changed_) The", "if (false) The", "nothing was current, something is"},
	"guard restores a device":  {"gpu_cuda.cu", "set_(before); }", "int now = 0; cudaGetDevice(&now); cudaSetDevice(before ? now : 0); }", "a context was made on device 0"},
	"wrong stream":             {"start_cuda.h", "static_cast<cudaStream_t>(launch.stream)", "launch.stream ? nullptr : nullptr", "a kernel ran elsewhere than on its stream"},
	"memory on another stream": {"gpu_cuda.cu", "data, 0, bytes, static_cast<cudaStream_t>(stream)", "data, 0, bytes, stream ? nullptr : nullptr", "memory was zeroed elsewhere"},
	"wrong device":             {"gpu_cuda.cu", "error = device_(&wanted, device)", "error = device_(&wanted, 0 * device)", "not on device 1"},
	"wait in a capture":        {"gpu_cuda.cu", "return Checked(cudaMemsetAsync(", "cudaStreamSynchronize(static_cast<cudaStream_t>(stream));\n  return Checked(cudaMemsetAsync(", "failed: launch"},
	"a read in a capture":      {"gpu_cuda.cu", "if (captures)", "if (false)", "operation not permitted when stream is capturing"},
	"another architecture":     {"gpu_cuda.cu", "*arch = 10 * major + minor", "*arch = 10 * major + minor + 1", "failed: 91"},
	"an error that stays":      {"start_cuda.h", "  cudaGetLastError();  // or", "  // or", "a refused launch leaves an error"},
}

// emulatedDevice is the emulated driver, compiled, and the objects of tests that do not change.
type emulatedDevice struct{ dir string }

func newEmulatedDevice(t *testing.T) emulatedDevice {
	t.Helper()
	return emulatedDevice{sharedFolder(t, "emulated-device", func(dir string) {
		build := func(output string, args ...string) {
			words := append([]string{"c++", "-std=c++17", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-fPIC", "-pthread", "-I", "backend",
				"-I", "backend/gen", "-I", "backend/emulator", "-DOPCAST_EMULATOR", "-o", filepath.Join(dir, output)}, args...)
			run(t, command(t, root(t), words...))
		}
		build("libcuda.so.1", append([]string{"-shared", "-Wl,-soname,libcuda.so.1"}, glob(t, filepath.Join(root(t), "backend/emulator/driver_*.cc"))...)...)
		for _, unit := range []string{"cudart", "emulator", "fiber"} {
			build(unit+".o", "-c", "backend/emulator/"+unit+".cc")
		}
	})}
}

// program compiles a test with the runtime in a folder.
func (d emulatedDevice) program(t *testing.T, test, runtime string) *exec.Cmd {
	t.Helper()
	in := func(name string) string { return filepath.Join(d.dir, name) }
	program := cppProgram(t, "-DOPCAST_EMULATOR", "-iquote", filepath.Dir(runtime), "-I", "backend/emulator", "-x", "c++",
		filepath.Join(runtime, "gpu_cuda.cu"), filepath.Join("backend/tests", test), "-x", "none",
		in("cudart.o"), in("emulator.o"), in("fiber.o"), in("libcuda.so.1"), "-Wl,-rpath,"+d.dir, "-ldl")
	return command(t, root(t), program)
}
