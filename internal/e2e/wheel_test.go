package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/language/framework"
	"github.com/opcast/opcast/internal/testkit/tooltest"
)

// strangers is a collection by somebody else: another license, a name of two words, a version that is not normal.
const strangers = `
-- opcast.toml --
name = "my_kernels"
version = "1.02.0rc1"
license = "MIT"
adaptors = ["torch", "jax", "cupy", "numpy", "paddle"]
sources = ["csrc/*.cc"]
[[files]]
match = "**/*.cc"
flags = ["-O0"]
-- LICENSE.txt --
Permission is hereby granted, free of charge.
-- README.md --
# My kernels
-- opdefs/twice.toml --
doc = "Double every value."
kind = 0
dtypes = { T = ["f32"] }
inputs = [{ name = "x", type = "T[*]", doc = "Any values." }]
outputs = [{ name = "y", type = "T[*]", doc = "2 * x." }]
reference = "return 2 * x"
-- csrc/twice.cc --
#include "twice.gen.h"

opcast::Status my_kernels_ops::Twice(const TwiceArgs& args, const opcast::Launch&) {
  for (int64_t i = 0; i < args.batch; ++i) static_cast<float*>(args.y)[i] = 2 * static_cast<const float*>(args.x)[i];
  return opcast::Status::Ok();
}
`

// called calls the op through every framework that a wheel must serve without a compiler and without the project.
const called = `
import sys
from importlib.metadata import files
import jax, numpy as np, paddle, torch
import my_kernels_backend, my_kernels_jax, my_kernels_numpy, my_kernels_paddle, my_kernels_torch
x = np.arange(3, dtype=np.float32)
t, p = torch.from_numpy(x), paddle.to_tensor(x)
for y in (my_kernels_numpy.twice(x), my_kernels_torch.twice(t), jax.jit(my_kernels_jax.twice)(x), my_kernels_paddle.twice(p)):
    assert np.asarray(y).tolist() == [0, 2, 4], y
assert str(my_kernels_backend.library_path()).startswith(sys.prefix), my_kernels_backend.library_path()
for package in ("backend", "torch", "numpy", "paddle"):
    held = {str(f).partition(".dist-info/licenses/")[2] for f in files(f"my_kernels_{package}")}
    assert {"LICENSE.txt", "opcast/LICENSE"} <= held, held
print("ok")
`

// strangersProject writes the collection into a folder of its own.
func strangersProject(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	unpack(t, dir, strangers)
	return dir
}

// wheelsOf writes the collection into a folder of its own and returns its wheels, by their names.
func wheelsOf(t *testing.T, environment string) (dist string, wheels map[string][]byte) {
	t.Helper()
	dir := strangersProject(t)
	cmd := command(t, "", tooltest.Path(t), "wheel", "-C", dir, "--python", environment, "--script", tooltest.Path(t))
	cmd.Env = append(os.Environ(), uncached) // else the second would have the objects of the first
	run(t, cmd)
	dist, wheels = filepath.Join(dir, "dist"), map[string][]byte{}
	entries, err := os.ReadDir(dist)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		content, err := os.ReadFile(filepath.Join(dist, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		wheels[entry.Name()] = content
	}
	return dist, wheels
}

// pip is a command of the main environment's pip for another environment.
func pip(t *testing.T, environment string, words ...string) *exec.Cmd {
	t.Helper()
	return command(t, t.TempDir(), append([]string{python(t), "-m", "pip", "--disable-pip-version-check", "--python", environment}, words...)...)
}

// Two builds in different folders give the same wheels; those please the judges, install without an index, and work without
// a compiler. What is wrong with an installation is told in one sentence.
func TestWheels(t *testing.T) {
	t.Parallel()
	builder := borrowed(t)
	dist, wheels := wheelsOf(t, builder)
	_, again := wheelsOf(t, builder)
	var files []string
	for name, content := range wheels {
		files = append(files, filepath.Join(dist, name))
		if !bytes.Equal(content, again[name]) {
			t.Errorf("another folder gives another %s", name)
		}
	}
	slices.Sort(files)
	if want := len(framework.Names()) + 2; len(files) != want || len(again) != want { // the backend's, and the one of requirements
		t.Errorf("wheels %q", files)
	}
	if name := "my_kernels_paddle-1.2.0rc1-py3-none-any.whl"; wheels[name] == nil {
		t.Errorf("there is no %s among %q", name, files)
	}
	judgeWheels(t, files)
	clean := borrowed(t)
	run(t, pip(t, clean, "install", "--no-index", "--find-links", dist, "my_kernels["+strings.Join(framework.Names(), ",")+"]==1.2.0rc1"))
	cmd := command(t, t.TempDir(), clean, "-P", "-c", called)
	cmd.Env = []string{"PATH=", "HOME=" + t.TempDir()}
	if out := run(t, cmd); out != "ok\n" {
		t.Errorf("the installed packages print %q", out)
	}
	judgeTypes(t, clean)
	test, damages := []string{"test", "-C", filepath.Dir(dist), "--installed", "--python", clean}, "99" // each damage is an import
	if testing.Short() {
		test, damages = append(test, "--fast"), "2"
	}
	mustOpcast(t, test...)
	mustOpcast(t, "matrix", "-C", filepath.Dir(dist), "--wheels", dist, "--python", python(t), "--environment", "numpy oldest")
	if out := run(t, command(t, t.TempDir(), filepath.Join(filepath.Dir(clean), "opcast"), "--help")); !strings.Contains(out, "opcast [command]") {
		t.Errorf("the installed command prints %s", out)
	}
	for _, framework := range [][]string{{"numpy", "99"}, {"jax", damages}, {"torch", "2"}} {
		words := append([]string{clean, "-P", filepath.Join(root(t), "internal/e2e/import_errors.py"), "my_kernels"}, framework...)
		if out := run(t, command(t, t.TempDir(), words...)); out != "ok\n" {
			t.Errorf("imports of broken installations:\n%s", out)
		}
	}
}

// A source distribution becomes an installed package without an index or opcast, and builds its library when it is imported.
func TestSourceDistributions(t *testing.T) {
	t.Parallel()
	dir := strangersProject(t)
	dist, again := filepath.Join(dir, "dist"), t.TempDir()
	mustOpcast(t, "wheel", "-C", dir, "--python", borrowed(t), "--sdist")
	mustOpcast(t, "wheel", "-C", dir, "--python", borrowed(t), "--sdist", "-o", again)
	sources, err := filepath.Glob(filepath.Join(dist, "*.tar.gz"))
	if err != nil || len(sources) != len(framework.Names())+1 {
		t.Fatal(sources, err)
	}
	for _, file := range sources {
		first, err := os.ReadFile(file)
		second, other := os.ReadFile(filepath.Join(again, filepath.Base(file)))
		if err != nil || other != nil || !bytes.Equal(first, second) {
			t.Errorf("another build gives another %s: %v, %v", filepath.Base(file), err, other)
		}
	}
	code, _, stderr := opcast(t, "wheel", "-C", dir, "--python", borrowed(t), "-o", again, "--script", filepath.Join(dir, "README.md"))
	if code != 2 || !strings.Contains(stderr, "README.md is no program for Linux") {
		t.Errorf("a script that is no program: exit code %d\n%s", code, stderr)
	}
	run(t, command(t, root(t), append([]string{filepath.Join(filepath.Dir(python(t)), "twine"), "check", "--strict"}, sources...)...))
	fresh, install := environment(t, python(t))
	install(pins(t, "apache-tvm-ffi", "ninja", "numpy", "ml_dtypes")...)
	install(filepath.Join(dist, "my_kernels_backend-1.2.0rc1.tar.gz"), filepath.Join(dist, "my_kernels_numpy-1.2.0rc1.tar.gz"))
	cmd := command(t, t.TempDir(), fresh, "-P", "-c", "import my_kernels_numpy as m, numpy as np; print(m.twice(np.ones(2, np.float32)))")
	cmd.Env = append(os.Environ(), "MY_KERNELS_CACHE_DIR="+t.TempDir())
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "my_kernels: built libmy_kernels.so") || !strings.Contains(string(out), "[2. 2.]") {
		t.Errorf("%v\n%s", err, out)
	}
}

// The library with code for GPUs is a wheel of its own, which lies beside the backend and serves in place of its library.
func TestWheelsForCUDA(t *testing.T) {
	t.Parallel()
	dir, builder := demoProject(t), borrowed(t)
	edit(t, filepath.Join(dir, "opcast.toml"), `["80", "90+PTX"]`, `["90"]`)
	_, stderr := mustOpcast(t, "wheel", "-C", dir, "--python", builder)
	if want := "note: the wheels hold no license of yours"; !strings.Contains(stderr, want) {
		t.Errorf("printed %s\nexpected %q in it", stderr, want)
	}
	variants, err := filepath.Glob(filepath.Join(dir, "dist", "demo_backend_cu[0-9]*-0.1.0-*.whl"))
	if err != nil || len(variants) != 1 {
		t.Fatalf("wheels for CUDA: %q (%v)", variants, err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "dist", "*.whl"))
	if err != nil {
		t.Fatal(err)
	}
	judgeWheels(t, files)
	variant, _, _ := strings.Cut(filepath.Base(variants[0]), "-")
	clean := withoutTorchAlone(t)
	install := func(requirement string) {
		run(t, pip(t, clean, "install", "--no-index", "--find-links", filepath.Join(dir, "dist"), requirement))
	}
	says := func(script string) string {
		return strings.TrimSpace(run(t, command(t, t.TempDir(), clean, "-P", "-c", script)))
	}
	const where = "import demo_numpy, demo_backend; print(demo_backend.library_path().parent.parent.name)"
	install("demo[numpy]")
	if got := says(where); got != "demo_backend" {
		t.Errorf("without the wheel for CUDA: %s", got)
	}
	install("demo[" + strings.TrimPrefix(variant, "demo_backend_") + "]")
	if got := says(where); got != variant {
		t.Errorf("with the wheel for CUDA: %s", got)
	}
	refuses(t, clean, variant)
}

// refuses changes the installed wheel for CUDA so that it does not fit the backend.
func refuses(t *testing.T, interpreter, variant string) {
	t.Helper()
	site := strings.TrimSpace(run(t, command(t, t.TempDir(), interpreter, "-c", "import sysconfig; print(sysconfig.get_path('platlib'))")))
	refused := func(want string) {
		t.Helper()
		out, err := command(t, t.TempDir(), interpreter, "-P", "-c", "import demo_backend").CombinedOutput()
		if err == nil || !strings.Contains(string(out), "ImportError: "+want) {
			t.Errorf("printed %s\nexpected %q", out, want)
		}
	}
	edit(t, filepath.Join(site, variant, "__init__.py"), `"0.1.0"`, `"0.2.10"`)
	refused(variant + " 0.2.10 needs demo-backend 0.2.10, and 0.1.0 is installed: run `pip install demo-backend==0.2.10`")
	if err := os.CopyFS(filepath.Join(site, "demo_backend_cu99"), os.DirFS(filepath.Join(site, variant))); err != nil {
		t.Fatal(err)
	}
	refused(variant + " and demo_backend_cu99 are both installed, and one library can serve: run `pip uninstall demo-backend-cu")
}

// withoutTorchAlone is like withoutTorch, for a test that installs something.
func withoutTorchAlone(t *testing.T) string {
	t.Helper()
	fresh, _ := environment(t, python(t))
	borrow(t, fresh, "import sys; sys.modules['torch'] = None\n")
	return fresh
}
