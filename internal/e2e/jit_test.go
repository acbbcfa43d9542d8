package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/opcast/opcast/internal/system/elfcheck"
)

// jit is a project that was generated and never built, and a cache of its own.
type jit struct {
	t           *testing.T
	dir, cache  string
	interpreter string
	env         []string
}

func newJIT(t *testing.T) *jit {
	t.Helper()
	j := &jit{t: t, dir: demoProject(t), cache: t.TempDir(), interpreter: withoutTorch(t)}
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "DEMO_") && !strings.HasPrefix(e, "OPCAST_") {
			j.env = append(j.env, e)
		}
	}
	j.env = append(j.env, "OPCAST_CACHE_DIR="+j.cache, "PYTHONPATH="+strings.Join([]string{
		filepath.Join(j.dir, "backend/python/src"), filepath.Join(j.dir, "adaptors/numpy/src"), filepath.Join(j.dir, "adaptors/jax/src"),
	}, ":"))
	return j
}

// cpuOnly takes CUDA out of the project, adds JAX, and saves the optimiser's time.
func (j *jit) cpuOnly() {
	toml := filepath.Join(j.dir, "opcast.toml")
	edit(j.t, toml, `["numpy"]`, `["jax", "numpy"]`)
	edit(j.t, toml, `["cpu", "cuda"]`, `["cpu"]`)
	edit(j.t, toml, `, "csrc/cuda/*.cu"`, "")
	edit(j.t, toml, "[cuda]\narch = [\"80\", \"90+PTX\"]\n", "")
	unoptimised(j.t, j.dir)
	op := filepath.Join(j.dir, "opdefs/scale.toml")
	edit(j.t, op, "[[kernels]]\nname = \"scale_block\"\ndevice = \"cuda\"\n", "")
	j.generate()
}

func (j *jit) generate() { mustOpcast(j.t, "gen", "-C", j.dir) }

func (j *jit) python(script string, env ...string) *exec.Cmd {
	cmd := command(j.t, j.t.TempDir(), j.interpreter, "-c", script)
	cmd.Env = append(append([]string(nil), j.env...), env...)
	return cmd
}

const jitCall = "import demo_numpy, numpy as np; print(demo_numpy.scale(np.arange(4, dtype=np.float32)))"

// call imports the package and calls the op. It returns how often the backend was compiled for that.
func (j *jit) call(want string, env ...string) (builds int) {
	j.t.Helper()
	cmd := j.python(jitCall, env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil || strings.TrimSpace(string(out)) != want {
		j.t.Fatalf("printed %q (%v), want %q\n%s", out, err, want, stderr.String())
	}
	return strings.Count(stderr.String(), "demo: built libdemo.so for cpu in ")
}

// mustBuild calls twice: the first compiles, the second does not.
func (j *jit) mustBuild(why, want string, env ...string) {
	j.t.Helper()
	if got := [2]int{j.call(want, env...), j.call(want, env...)}; got != [2]int{1, 0} {
		j.t.Errorf("%s: two imports compiled %v times, want 1 and 0", why, got)
	}
}

const once, twice = "[0. 1. 2. 3.]", "[0. 2. 4. 6.]"

// A package without a library builds itself, once for all processes, and again whenever the result would differ.
func TestJIT(t *testing.T) {
	t.Parallel()
	python(t)
	j := newJIT(t)
	j.cpuOnly()
	for _, step := range []struct {
		name string
		run  func(*jit)
	}{
		{"four at once", (*jit).fourAtOnce},
		{"the same as opcast build", (*jit).same},
		{"killed after an edited header", (*jit).killed},
		{"flag", func(j *jit) {
			edit(j.t, filepath.Join(j.dir, "opcast.toml"), `["-O0"]`, `["-O0", "-DUNUSED"]`)
			j.generate()
			j.mustBuild("another flag", twice)
		}},
		{"compiler", (*jit).otherCompiler},
		{"header of the system", (*jit).foreignHeader},
		{"prebuilt", (*jit).prebuilt},
		{"handlers", (*jit).handlers},
		{"error", (*jit).compileError},
	} {
		t.Run(step.name, func(t *testing.T) {
			j.t = t
			step.run(j)
		})
	}
}

// slowly has each unit compiled: there must be time to wait for a build, or to kill it.
const slowly = "CCACHE_DISABLE=1"

func (j *jit) fourAtOnce() {
	var wait sync.WaitGroup
	builds := make([]int, 4)
	for i := range builds {
		wait.Add(1)
		go func() {
			defer wait.Done()
			var stderr bytes.Buffer
			cmd := j.python(jitCall, slowly)
			cmd.Stderr = &stderr
			if out, err := cmd.Output(); err != nil || strings.TrimSpace(string(out)) != once {
				j.t.Errorf("process %d printed %q (%v)\n%s", i, out, err, stderr.String())
			}
			builds[i] = strings.Count(stderr.String(), "demo: built libdemo.so")
			if builds[i] == 0 && !strings.Contains(stderr.String(), "waiting for another process that builds libdemo.so") {
				j.t.Errorf("process %d says nothing of its waiting: %q", i, stderr.String())
			}
		}()
	}
	wait.Wait()
	if builds[0]+builds[1]+builds[2]+builds[3] != 1 {
		j.t.Errorf("compiled %v times, want once", builds)
	}
	if j.call(once) != 0 {
		j.t.Error("a fifth process compiled again")
	}
}

// same: what a package builds on import is what `opcast build` makes, byte for byte: both have the same key.
func (j *jit) same() {
	fresh, _ := environment(j.t, python(j.t))
	borrow(j.t, fresh, "import sys; sys.modules['torch'] = None\n")
	mustOpcast(j.t, "build", "-C", j.dir, "--python", fresh)
	found, err := filepath.Glob(filepath.Join(j.cache, "demo", "*", "libdemo.so"))
	if err != nil || len(found) != 1 {
		j.t.Fatalf("the cache holds %v, %v", found, err)
	}
	home := filepath.Join(j.dir, "backend/python/src/demo_backend/lib/libdemo.so")
	if !bytes.Equal(read(j.t, found[0]), read(j.t, home)) {
		j.t.Errorf("%s differs from %s", home, found[0])
	}
	for _, lib := range []string{"backend/python/src/demo_backend/lib", "adaptors/jax/src/demo_jax/lib"} {
		if err := os.RemoveAll(filepath.Join(j.dir, lib)); err != nil {
			j.t.Fatal(err)
		}
	}
}

func (j *jit) killed() {
	edit(j.t, filepath.Join(j.dir, "csrc/factor.h"), "1.0f", "2.0f")
	cmd := j.python(jitCall, slowly)
	if err := cmd.Start(); err != nil {
		j.t.Fatal(err)
	}
	for begin := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		objects, _ := filepath.Glob(filepath.Join(j.cache, "demo", ".*", "build/release/obj/*/*/*/*.o"))
		if len(objects) > 0 {
			break
		}
		if time.Since(begin) > 2*time.Minute {
			j.t.Fatal("no object was compiled in two minutes")
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		j.t.Fatal(err)
	}
	_ = cmd.Wait() // says that it was killed
	j.mustBuild("an edited header, and a build that was killed", twice)
	if left, _ := filepath.Glob(filepath.Join(j.cache, "demo", ".*")); len(left) > 0 {
		j.t.Errorf("left over in the cache: %q", left)
	}
}

func (j *jit) otherCompiler() {
	wrapper := filepath.Join(j.t.TempDir(), "cxx")
	write(j.t, wrapper, []byte("#!/bin/sh\nexec "+strings.Join(cxxWords(j.t), " ")+" \"$@\"\n"))
	if err := os.Chmod(wrapper, 0o755); err != nil {
		j.t.Fatal(err)
	}
	j.mustBuild("another compiler", twice, "CXX="+wrapper)
	if j.call(twice) != 0 {
		j.t.Error("the first compiler's library was forgotten")
	}
}

func (j *jit) foreignHeader() {
	folder := j.t.TempDir()
	header := filepath.Join(folder, "foreign.h")
	write(j.t, header, []byte("#define TIMES 1\n"))
	edit(j.t, filepath.Join(j.dir, "csrc/cpu/scale.cc"), `#include "scale.gen.h"`, "#include \"scale.gen.h\"\n#include <foreign.h>")
	edit(j.t, filepath.Join(j.dir, "csrc/cpu/scale.cc"), "* kFactor", "* kFactor * TIMES")
	j.mustBuild("a header elsewhere", twice, "CPATH="+folder)
	write(j.t, header, []byte("#define TIMES 2\n"))
	j.mustBuild("an edited header elsewhere", "[ 0.  4.  8. 12.]", "CPATH="+folder)
	edit(j.t, filepath.Join(j.dir, "csrc/cpu/scale.cc"), "\n#include <foreign.h>", "")
	edit(j.t, filepath.Join(j.dir, "csrc/cpu/scale.cc"), " * TIMES", "")
	if j.call(twice) != 0 {
		j.t.Error("the old source's library was forgotten")
	}
}

func (j *jit) prebuilt() {
	library := filepath.Join(j.dir, "backend/python/src/demo_backend/lib/libdemo.so")
	write(j.t, library, []byte("no library"))
	if out, err := j.python(jitCall).CombinedOutput(); err == nil || !strings.Contains(string(out), library) {
		j.t.Errorf("the prebuilt library was not loaded: %v\n%s", err, out)
	}
	if j.call(twice, "DEMO_BUILD=1") != 0 {
		j.t.Error("DEMO_BUILD=1 forgot what had been built")
	}
	out, err := j.python(jitCall, "DEMO_BUILD=yes").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "ImportError: DEMO_BUILD: expected 0 or 1, got yes") {
		j.t.Errorf("%v\n%s", err, out)
	}
	if err := os.Remove(library); err != nil {
		j.t.Fatal(err)
	}
}

func (j *jit) handlers() {
	const script = "import demo_jax, jax, numpy as np; print(jax.jit(demo_jax.scale)(np.arange(4, dtype=np.float32)))"
	out, err := j.python(script).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "demo: built libdemo_jax.so") || !strings.Contains(string(out), twice) {
		j.t.Errorf("%v\n%s", err, out)
	}
}

func (j *jit) compileError() {
	edit(j.t, filepath.Join(j.dir, "csrc/factor.h"), "2.0f", "nonsense")
	out, err := j.python(jitCall).CombinedOutput()
	for _, want := range []string{"ImportError: demo_backend: libdemo.so cannot be built: the compiler says", "factor.h:2", "nonsense"} {
		if err == nil || !strings.Contains(string(out), want) {
			j.t.Errorf("%v, want %q in\n%s", err, want, out)
		}
	}
}

// Where there is nvcc, what a package builds on import has both devices.
func TestJITForCUDA(t *testing.T) {
	t.Parallel()
	python(t)
	j := newJIT(t)
	j.generate()
	const script = "import demo_backend as b; print(b.library_path())"
	library := strings.TrimSpace(run(t, j.python(script)))
	code, err := elfcheck.DeviceCode(library)
	if err != nil || strings.Join(code, " ") != "compute_90 sm_80 sm_90" {
		t.Errorf("%s holds %q, %v", library, code, err)
	}
}

// Packages that carry their sources build themselves where they are installed, without the project.
func TestJITInstalled(t *testing.T) {
	t.Parallel()
	j := newJIT(t)
	j.cpuOnly()
	stdout, _ := mustOpcast(t, "build", "--jit", "-C", j.dir)
	if !strings.Contains(stdout, "files into backend/python, which builds itself on import") {
		t.Errorf("build --jit says %q", stdout)
	}
	fresh, install := environment(t, python(t))
	install(pins(t, "apache-tvm-ffi", "ninja", "numpy", "ml_dtypes")...)
	install(filepath.Join(j.dir, "backend/python"), filepath.Join(j.dir, "adaptors/numpy"))
	if err := os.RemoveAll(j.dir); err != nil {
		t.Fatal(err)
	}
	cmd := command(t, t.TempDir(), fresh, "-c", jitCall)
	cmd.Env = append(os.Environ(), "OPCAST_CACHE_DIR="+j.cache)
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "demo: built libdemo.so") || !strings.Contains(string(out), once) {
		t.Errorf("%v\n%s", err, out)
	}
}

// Sources in the root of a project, static libraries, and a cache that others can write to or that lacks.
func TestJITParts(t *testing.T) {
	runtime := filepath.Join(root(t), "backend/python/src/opcast_backend")
	run(t, command(t, t.TempDir(), python(t), "-P", filepath.Join(root(t), "internal/e2e/jit_parts.py"), runtime, t.TempDir()))
}
