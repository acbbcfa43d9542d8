package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const callersPrint = `0.83205 1.1094
0.844317 1.12576
2.5 7.5
ValueError: rms_norm: eps: expected at least 0, got -1
`

// A C++ program calls ops through the generated header, and CMake finds that where the package is.
func TestCallersInCPP(t *testing.T) {
	t.Parallel()
	env := tvm(t)
	backend := filepath.Join(root(t), "backend/python/src/opcast_backend")
	program := filepath.Join(t.TempDir(), "normalise")
	run(t, command(t, root(t), "c++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-I", filepath.Join(backend, "include"),
		"-isystem", env.TVMInclude, "examples/cpp/main.cc", "-o", program, filepath.Join(backend, "lib/libopcast.so"), env.TVMLibrary,
		"-Wl,-rpath,"+filepath.Join(backend, "lib"), "-Wl,-rpath,"+filepath.Dir(env.TVMLibrary)))
	if diff := cmp.Diff(callersPrint, run(t, command(t, t.TempDir(), program))); diff != "" {
		t.Errorf("the program prints (-want +got):\n%s", diff)
	}
	if _, err := exec.LookPath("cmake"); err != nil {
		t.Skip("the header was tried, and there is no CMake to try its configuration: ", err)
	}
	build := t.TempDir()
	place := command(t, t.TempDir(), python(t), "-P", "-m", "opcast_backend", "--cmakedir")
	place.Env = append(os.Environ(), "PYTHONPATH="+filepath.Dir(backend))
	config := filepath.Join(filepath.Dir(filepath.Dir(env.TVMLibrary)), "share/cmake/tvm_ffi")
	run(t, command(t, root(t), "cmake", "-S", "examples/cpp", "-B", build, "-DCMAKE_PREFIX_PATH="+strings.TrimSpace(run(t, place)),
		"-Dtvm_ffi_DIR="+config, "-DPython_EXECUTABLE="+python(t)))
	run(t, command(t, root(t), "cmake", "--build", build))
	if diff := cmp.Diff(callersPrint, run(t, command(t, t.TempDir(), filepath.Join(build, "normalise")))); diff != "" {
		t.Errorf("the program that CMake has built prints (-want +got):\n%s", diff)
	}
}
