package e2e

import (
	_ "embed"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/testkit/tooltest"
)

// hubOps is a stranger's collection with a gradient and a layer.
const hubOps = `
-- opcast.toml --
name = "tiny_ops"
version = "1.2.0"
license = "MIT"
adaptors = ["torch", "jax", "numpy", "paddle"]
sources = ["csrc/*.cc"]
[[files]]
match = "**/*.cc"
flags = ["-O0"]
-- LICENSE --
Permission is hereby granted, free of charge.
-- opdefs/scaled.toml --
doc = "Multiply every value by a factor."
kind = 0
dtypes = { T = ["f32"] }
inputs = [{ name = "x", type = "T[*]", doc = "Any values." }]
outputs = [{ name = "y", type = "T[*]", doc = "The products." }]
reference = "return 2 * x"
backward = "scaled_backward"
[[layers]]
module = "torch.nn.ReLU"
ignores = ["inplace"]
[workloads]
small = { "*" = [2, 64] }
-- opdefs/scaled_backward.toml --
doc = "Compute the gradient of scaled."
kind = 1
dtypes = { T = ["f32"] }
inputs = [{ name = "grad_y", type = "T[*]", doc = "The gradient of y." }]
outputs = [{ name = "grad_x", type = "T[*]", doc = "The gradient of x." }]
reference = "return 2 * grad_y"
-- csrc/factor.h --
#pragma once
constexpr float kFactor = 2;
-- csrc/scaled.cc --
#include "scaled.gen.h"

#include "factor.h"
#include "scaled_backward.gen.h"

namespace {

opcast::Status Scale(void* y, const void* x, int64_t count) {
  for (int64_t i = 0; i < count; ++i) static_cast<float*>(y)[i] = kFactor * static_cast<const float*>(x)[i];
  return opcast::Status::Ok();
}

}  // namespace

opcast::Status tiny_ops_ops::Scaled(const ScaledArgs& args, const opcast::Launch&) {
  return Scale(args.y, args.x, args.batch);
}

opcast::Status tiny_ops_ops::ScaledBackward(const ScaledBackwardArgs& args, const opcast::Launch&) {
  return Scale(args.grad_x, args.grad_y, args.batch);
}
`

// git runs git in a folder, as somebody whom its configuration need not know.
func git(t *testing.T, dir string, words ...string) string {
	t.Helper()
	cmd := command(t, dir, append([]string{"git", "-c", "user.name=a", "-c", "user.email=a@example.org"}, words...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_DIR="+filepath.Join(dir, ".git"))
	return strings.TrimSpace(run(t, cmd))
}

// contents lists the files below a folder with their modes and contents.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, path) // the walk begins there
		var content []byte
		if !entry.IsDir() {
			content, err = os.ReadFile(path)
		}
		files[name] = info.Mode().String() + " " + string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

//go:embed hub_kernels.py
var hubKernels string

// commit commits a project's own files, and returns the name of the commit.
func commit(t *testing.T, dir string) string {
	t.Helper()
	git(t, dir, "add", "opcast.toml", "LICENSE", "opdefs", "csrc")
	git(t, dir, "commit", "--quiet", "-m", "change")
	return git(t, dir, "rev-parse", "HEAD")
}

// hubProject lays the collection out in a repository without commits.
func hubProject(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	unpack(t, dir, hubOps)
	git(t, dir, "init", "--quiet")
	return dir
}

// A kernel of the hub has the same bytes in another folder, and the loader of kernels takes it: from a folder, from its cache,
// by a lockfile, two versions at once, and with whichever frameworks a process has.
func TestHub(t *testing.T) {
	t.Parallel()
	builder, dir := borrowed(t), hubProject(t)
	first := commit(t, dir)
	again := filepath.Join(t.TempDir(), "again")
	run(t, command(t, dir, "git", "clone", "--quiet", dir, again))
	one, two := filepath.Join(dir, "dist", "hub"), filepath.Join(t.TempDir(), "two")
	own := command(t, "", tooltest.Path(t), "hub", "-C", dir, "--python", builder)
	own.Env = append(os.Environ(), uncached) // else the second would have the objects of the first
	run(t, own)
	private := command(t, again, "sh", "-c", `umask 077 && exec "$0" hub --python "$1" -o "$2"`, tooltest.Path(t), builder, two)
	private.Env = own.Env
	run(t, private)
	sameVariants(t, one, two, first)

	edit(t, filepath.Join(dir, "csrc/factor.h"), "2", "3")
	edit(t, filepath.Join(dir, "opcast.toml"), "1.2.0", "2.0.0")
	stdout, _ := mustOpcast(t, "hub", "-C", dir, "--python", builder, "-o", two, "--json")
	if strings.Count(stdout, "_dirty\"") != 2 || strings.Contains(stdout, first[:7]) {
		t.Errorf("with changes beside the commit: %s", stdout)
	}
	second := commit(t, dir)
	stdout, _ = mustOpcast(t, "hub", "-C", dir, "--python", builder, "-o", two, "--json")
	if want := `"id": "_tiny_ops_cpu_` + second[:7] + `"`; strings.Count(stdout, want) != 2 {
		t.Errorf("printed %s\nexpected %s in it, twice", stdout, want)
	}
	for _, interpreter := range []string{builder, withoutTorch(t)} {
		loadKernels(t, interpreter, one, two, first, second)
	}
}

// loadKernels runs the script with the real loader.
func loadKernels(t *testing.T, interpreter string, args ...string) {
	t.Helper()
	cmd := command(t, t.TempDir(), append([]string{interpreter, "-P", "-c", hubKernels}, args...)...)
	cmd.Env = append(cmd.Environ(), "HF_HUB_OFFLINE=1", "HF_HOME="+t.TempDir(), "KERNELS_CACHE="+t.TempDir())
	if out := run(t, cmd); out != "ok\n" {
		t.Errorf("the loader's script prints %s", out)
	}
}

// sameVariants compares the variants of two kernels, and has our own judge look at the libraries.
func sameVariants(t *testing.T, one, again, commit string) {
	t.Helper()
	for _, framework := range []string{"tvm-ffi01", "torch-stable-abi210"} {
		variant := filepath.Join("build", framework+"-cpu-x86_64-linux")
		files, others := contents(t, filepath.Join(one, variant)), contents(t, filepath.Join(again, variant))
		for name, content := range files {
			if others[name] != content {
				t.Errorf("another folder gives another %s/%s", variant, name)
			}
		}
		if len(files) != len(others) || len(files) < 50 {
			t.Errorf("%s: %d and %d files", variant, len(files), len(others))
		}
		if want := `"id": "_tiny_ops_cpu_` + commit[:7] + `",`; !strings.Contains(files["metadata.json"], want) {
			t.Errorf("%s: expected %s in %s", variant, want, files["metadata.json"])
		}
	}
	libraries, err := filepath.Glob(filepath.Join(one, "build", "*", "*", "lib", "*.so"))
	if err != nil || len(libraries) != 6 {
		t.Fatalf("libraries %q (%v)", libraries, err)
	}
	mustOpcast(t, append([]string{"audit"}, libraries...)...)
}

// hubCUDA replaces files of the collection: its op has a kernel for GPUs, too.
const hubCUDA = `
-- opcast.toml --
name = "tiny_ops"
version = "0.3.0"
license = "MIT"
adaptors = ["torch"]
devices = ["cpu", "cuda"]
sources = ["csrc/*.cc", "csrc/*.cu"]
[cuda]
arch = ["90+PTX"]
-- opdefs/scaled.toml --
doc = "Multiply every value by a factor."
kind = 0
dtypes = { T = ["f32"] }
inputs = [{ name = "x", type = "T[*]", doc = "Any values." }]
outputs = [{ name = "y", type = "T[*]", doc = "The products." }]
reference = "return 2 * x"
[[layers]]
module = "torch.nn.ReLU"
ignores = ["inplace"]
[[kernels]]
name = "scaled_cpu"
device = "cpu"
[[kernels]]
name = "scaled_cuda"
device = "cuda"
-- csrc/scaled.cc --
#include "scaled.gen.h"

#include "factor.h"

opcast::Status tiny_ops_ops::ScaledCpu(const ScaledArgs& args, const opcast::Launch&) {
  for (int64_t i = 0; i < args.batch; ++i) static_cast<float*>(args.y)[i] = kFactor * static_cast<const float*>(args.x)[i];
  return opcast::Status::Ok();
}
-- csrc/scaled.cu --
#include "factor.h"
#include "scaled.gen.h"

namespace {

__global__ void Scale(float* y, const float* x, int64_t n) {
  const int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
  if (i < n) y[i] = x[i] * kFactor;
}

}  // namespace

opcast::Status tiny_ops_ops::ScaledCuda(const ScaledArgs& args, const opcast::Launch& launch) {
  Scale<<<unsigned((args.batch + 255) / 256), 256, 0, static_cast<cudaStream_t>(launch.stream)>>>(
      static_cast<float*>(args.y), static_cast<const float*>(args.x), args.batch);
  return cudaGetLastError() == cudaSuccess ? opcast::Status::Ok() : opcast::Status::Error("no launch");
}
`

// calledForCUDA calls the kernel that the loader chooses for a PyTorch that was built for CUDA, whether or not there is a GPU.
const calledForCUDA = `
import sys
from pathlib import Path
import kernels, torch
kernel = kernels.get_local_kernel(Path(sys.argv[1]))
x = torch.arange(3.0)
assert torch.equal(kernel.scaled(x), 2 * x)
assert kernel.kernels("scaled") == ("scaled_cpu", "scaled_cuda"), kernel.kernels("scaled")
if torch.cuda.is_available():
    assert torch.equal(kernel.scaled(x.cuda()).cpu(), 2 * x)
print(Path(kernel.__file__).parent.name, kernels.get_loaded_kernels()[0].metadata.backend.archs)
`

// Where there is a compiler for CUDA, there are variants for it beside those for the CPU. They load without a driver.
func TestHubForCUDA(t *testing.T) {
	t.Parallel()
	builder, dir := borrowed(t), hubProject(t)
	unpack(t, dir, hubCUDA)
	if err := os.Remove(filepath.Join(dir, "opdefs", "scaled_backward.toml")); err != nil {
		t.Fatal(err)
	}
	mustOpcast(t, "hub", "-C", dir, "--python", builder)
	variants, err := filepath.Glob(filepath.Join(dir, "dist", "hub", "build", "*-cu1[0-9]*-x86_64-linux"))
	if err != nil || len(variants) != 2 {
		t.Fatalf("variants for CUDA: %q (%v)", variants, err)
	}
	libraries, err := filepath.Glob(filepath.Join(dir, "dist", "hub", "build", "*", "*", "lib", "*.so"))
	if err != nil || len(libraries) != 8 {
		t.Fatalf("libraries %q (%v)", libraries, err)
	}
	mustOpcast(t, append([]string{"audit"}, libraries...)...)
	cmd := command(t, t.TempDir(), builder, "-P", "-c", calledForCUDA, filepath.Join(dir, "dist", "hub"))
	cmd.Env = append(cmd.Environ(), "HF_HUB_OFFLINE=1")
	want := filepath.Base(variants[0]) + " ['9.0', '9.0+PTX']\n"
	if out := run(t, cmd); out != want {
		t.Errorf("the loader's script prints %s\nexpected %s", out, want)
	}
}
