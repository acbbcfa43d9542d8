package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/build/compiler"
	"github.com/opcast/opcast/internal/system/elfcheck"
	"github.com/opcast/opcast/internal/testkit/tooltest"
)

// needHIP skips a test where there is no compiler for AMD's GPUs.
func needHIP(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("hipcc"); err != nil {
		t.Skip("no hipcc on this machine: nothing is compiled for AMD's GPUs")
	}
}

// rocmProject is the demo with the same kernel for both kinds of GPUs.
func rocmProject(t *testing.T) string {
	t.Helper()
	dir := demoProject(t)
	edit(t, filepath.Join(dir, "opcast.toml"), `"cuda"]`, `"cuda", "rocm"]`)
	edit(t, filepath.Join(dir, "opdefs/scale.toml"), `device = "cuda"`, `device = ["cuda", "rocm"]`)
	write(t, filepath.Join(dir, "csrc/cuda/scale.cu"), []byte(`#include "opcast/device.h"
#include "../factor.h"
#include "scale.gen.h"

namespace {

__global__ void __launch_bounds__(256) Scale(float* y, const float* x, int64_t n) {
  const int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
  if (i < n) y[i] = x[i] * kFactor;
}

}  // namespace

opcast::Status demo_ops::ScaleBlock(const ScaleArgs& a, const opcast::Launch& launch) {
  return opcast::Start(Scale, opcast::Blocks((a.N + 255) / 256), 256, 0, launch, static_cast<float*>(a.y),
                       static_cast<const float*>(a.x), a.N);
}
`))
	return dir
}

// One library has the CPU and AMD's GPUs. It loads without a driver and without HIP, and a call on a GPU says what is wrong.
func TestBuildForROCm(t *testing.T) {
	t.Parallel()
	needHIP(t)
	dir, python := rocmProject(t), borrowed(t)
	stdout, _ := mustOpcast(t, "build", "-C", dir, "--device", "cpu,rocm", "--python", python)
	if want := "(1 op, gfx90a"; !strings.Contains(stdout, want) {
		t.Errorf("build says %q, want %q in it", stdout, want)
	}
	lib, err := elfcheck.Read(filepath.Join(dir, "build/release/libdemo.so"))
	if err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(lib.Exports, func(s string) bool { return !strings.HasPrefix(s, "__tvm_ffi_") }) {
		t.Errorf("exports: %q", lib.Exports)
	}
	if slices.ContainsFunc(lib.Needed, func(s string) bool { return strings.Contains(s, "hip") || strings.Contains(s, "hsa") }) {
		t.Errorf("needs: %q", lib.Needed)
	}
	none := noRuntime(t)
	for env, want := range map[string]string{
		"":                        "RuntimeError: scale: rocm:0 cannot be used: ",
		"LD_LIBRARY_PATH=" + none: "RuntimeError: scale: rocm:0 cannot be used: no HIP runtime for AMD's devices: ",
	} {
		if _, err := os.Stat("/dev/kfd"); err == nil && env == "" {
			continue // there may be a GPU
		}
		cmd := command(t, root(t), python, "internal/e2e/build_cuda.py", "rocm")
		cmd.Env = append(os.Environ(), env)
		if lines := strings.SplitN(run(t, cmd), "\n", 2); lines[0] != "[0. 1. 2. 3.]" || !strings.HasPrefix(lines[1], want) {
			t.Errorf("with %q, the calls print %q, want %q", env, lines, want)
		}
	}
	refusals(t, dir, python)
}

// noRuntime is a folder whose libamdhip64 no loader takes.
func noRuntime(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, ending := range []string{"", ".5", ".6", ".7"} {
		write(t, filepath.Join(dir, "libamdhip64.so"+ending), []byte("no library"))
	}
	return dir
}

// refusals asks for what cannot be built.
func refusals(t *testing.T, dir, python string) {
	t.Helper()
	for _, bad := range []struct {
		devices, env, want string
		code               int
	}{
		{"cuda,rocm", "", "a library has kernels for the GPUs of one vendor", 2},
		{"rocm", "HIPCC=/no/hipcc", "no HIP compiler: $HIPCC names /no/hipcc, which is no program", 3},
		{"rocm", compiler.GFXVariable + "=90", `arch "90" of [rocm] in opcast.toml or OPCAST_ROCM_ARCH is no architecture of AMD's`, 1},
	} {
		cmd := command(t, dir, tooltest.Path(t), "build", "--device", bad.devices, "--python", python)
		cmd.Env = append(os.Environ(), bad.env)
		if out, _ := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != bad.code || !strings.Contains(string(out), bad.want) {
			t.Errorf("--device %s with %q: exit code %d, want %d\n%s", bad.devices, bad.env, cmd.ProcessState.ExitCode(), bad.code, out)
		}
	}
}

// What the runtime asks of HIP, on a machine without it and with one that only notes what it is asked.
func TestHIPRuntime(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/usr/include/hip/hip_runtime_api.h"); err != nil {
		t.Skip("no headers of HIP in /usr/include")
	}
	dir := t.TempDir()
	run(t, command(t, root(t), "c++", "-std=c++17", "-D__HIP_PLATFORM_AMD__", "-shared", "-fPIC", "backend/tests/fake_hip.cc",
		"-Wl,-soname,libamdhip64.so.7", "-o", filepath.Join(dir, "libamdhip64.so.7")))
	program := cppProgram(t, "-D__HIP_PLATFORM_AMD__", "backend/tests/gpu_hip_test.cc", "-x", "c++", "backend/opcast/gpu_hip.hip",
		"backend/opcast/gpu_hip_units.hip", "-x", "none", "-ldl")
	for word, folder := range map[string]string{"none": noRuntime(t), "fake": dir} {
		cmd := command(t, root(t), program, word)
		cmd.Env = append(os.Environ(), "LD_LIBRARY_PATH="+folder)
		t.Log(run(t, cmd))
	}
}
