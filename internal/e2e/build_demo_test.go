package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// demo is a stranger's project of one op for both devices. The kernel for CUDA copies bytes.
const demo = `
-- opcast.toml --
name = "demo"
version = "0.1.0"
license = "MIT"
adaptors = ["numpy"]
devices = ["cpu", "cuda"]
sources = ["csrc/cpu/*.cc", "csrc/cuda/*.cu"]
[cuda]
arch = ["80", "90+PTX"]
-- opdefs/scale.toml --
doc = "Copy x."
kind = 0
dtypes = { T = ["f32"] }
inputs = [{ name = "x", type = "T[N]", doc = "Any values." }]
outputs = [{ name = "y", type = "T[N]", doc = "The values of x." }]
reference = "return x"
[[kernels]]
name = "scale_loop"
device = "cpu"
[[kernels]]
name = "scale_block"
device = "cuda"
-- csrc/factor.h --
#pragma once
constexpr float kFactor = 1.0f;
-- csrc/cpu/scale.cc --
#include "../factor.h"
#include "scale.gen.h"

opcast::Status demo_ops::ScaleLoop(const ScaleArgs& args, const opcast::Launch&) {
  const float* x = static_cast<const float*>(args.x);
  for (int64_t i = 0; i < args.N; ++i) static_cast<float*>(args.y)[i] = x[i] * kFactor;
  return opcast::Status::Ok();
}
-- csrc/cuda/scale.cu --
#include <cuda_runtime.h>

#include "../factor.h"
#include "scale.gen.h"

namespace {

__global__ void Scale(float* y, const float* x, int64_t n) {
  const int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
  if (i < n) y[i] = x[i] * kFactor;
}

}  // namespace

opcast::Status demo_ops::ScaleBlock(const ScaleArgs& args, const opcast::Launch& launch) {
  Scale<<<unsigned((args.N + 255) / 256), 256, 0, static_cast<cudaStream_t>(launch.stream)>>>(
      static_cast<float*>(args.y), static_cast<const float*>(args.x), args.N);
  const cudaError_t error = cudaGetLastError();
  return error == cudaSuccess ? opcast::Status::Ok() : opcast::Status::Error(cudaGetErrorString(error));
}
`

// unpack writes the files of an archive into a folder.
func unpack(t *testing.T, dir, archive string) {
	t.Helper()
	for _, f := range txtar.Parse([]byte(archive)).Files {
		write(t, filepath.Join(dir, f.Name), f.Data)
	}
}

// demoProject lays the demo out and returns its folder.
func demoProject(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	unpack(t, dir, demo)
	return dir
}

// unoptimised has a project compiled in half the time.
func unoptimised(t *testing.T, dir string) {
	t.Helper()
	manifest := filepath.Join(dir, "opcast.toml")
	write(t, manifest, append(read(t, manifest), "[[files]]\nmatch = \"**/*.cc\"\nflags = [\"-O0\"]\n"...))
}

// borrowed is an environment of its own, for a project to be linked into, that has the packages and the ninja of the
// main one.
func borrowed(t *testing.T) string {
	t.Helper()
	fresh, _ := environment(t, python(t))
	borrow(t, fresh, "")
	return fresh
}

// withoutTorch is an environment that has all but PyTorch, which tvm-ffi imports wherever it finds it: that takes seconds
// of every process.
func withoutTorch(t *testing.T) string {
	t.Helper()
	python_ := func(dir string) string { return filepath.Join(dir, "bin", "python") }
	return python_(sharedFolder(t, "light", func(dir string) {
		environmentIn(t, dir, python(t))
		borrow(t, python_(dir), "import sys; sys.modules['torch'] = None\n")
	}))
}

// borrow gives an environment the packages and the ninja of the main one. Each of its processes runs the code first.
func borrow(t *testing.T, fresh, code string) {
	t.Helper()
	site := func(python string) string {
		return strings.TrimSpace(run(t, command(t, root(t), python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))")))
	}
	write(t, filepath.Join(site(fresh), "borrowed.pth"), []byte(site(python(t))+"\n"+code))
	if err := os.Symlink(mainNinja(t), filepath.Join(filepath.Dir(fresh), "ninja")); err != nil {
		t.Fatal(err)
	}
}

func mainNinja(t *testing.T) string { return filepath.Join(filepath.Dir(python(t)), "ninja") }

// mustOpcast is opcast for a command that has to succeed.
func mustOpcast(t *testing.T, args ...string) (stdout, stderr string) {
	t.Helper()
	code, stdout, stderr := opcast(t, args...)
	if code != 0 {
		t.Fatalf("opcast %s: exit code %d\n%s%s", strings.Join(args, " "), code, stdout, stderr)
	}
	return stdout, stderr
}

// edit replaces text in a file of a project.
func edit(t *testing.T, path, old, new string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil || !bytes.Contains(text, []byte(old)) {
		t.Fatalf("%s holds no %q: %v", path, old, err)
	}
	write(t, path, bytes.Replace(text, []byte(old), []byte(new), 1))
}
