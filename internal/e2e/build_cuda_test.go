package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opcast/opcast/internal/build/compiler"
	"github.com/opcast/opcast/internal/system/elfcheck"
	"github.com/opcast/opcast/internal/testkit/tooltest"
)

// One library has both devices. It loads and works without a driver, and a call on CUDA says what is wrong.
func TestBuildForCUDA(t *testing.T) {
	t.Parallel()
	dir, python := demoProject(t), borrowed(t)
	stdout, stderr := mustOpcast(t, "build", "-C", dir, "--device", "cpu,cuda", "--python", python)
	library := filepath.Join(dir, "build/release/libdemo.so")
	code, err := elfcheck.DeviceCode(library)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"compute_90", "sm_80", "sm_90"}, code); diff != "" {
		t.Errorf("code in the library (-want +got):\n%s", diff)
	}
	if want := "(1 op, compute_90, sm_80, sm_90, SHA-256"; !strings.Contains(stdout, want) {
		t.Errorf("build says %q, want %q in it\n%s", stdout, want, stderr)
	}
	lib, err := elfcheck.Read(library)
	if err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(lib.Exports, func(s string) bool { return !strings.HasPrefix(s, "__tvm_ffi_") }) {
		t.Errorf("exports: %q", lib.Exports)
	}
	if slices.ContainsFunc(lib.Needed, func(s string) bool { return strings.Contains(s, "cuda") }) {
		t.Errorf("needs: %q", lib.Needed)
	}
	lines := strings.SplitN(run(t, command(t, root(t), python, "internal/e2e/build_cuda.py")), "\n", 2)
	if lines[0] != "[0. 1. 2. 3.]" {
		t.Errorf("on the CPU it prints %q", lines[0])
	}
	if _, err := os.Stat("/dev/nvidiactl"); err != nil && !strings.HasPrefix(lines[1], "RuntimeError: scale: ") {
		t.Errorf("without a device, a call on CUDA ends with %q", lines[1])
	}
	separate(t, dir)
	rebuilds(t, dir, python)
}

// rebuilds edits what only some units read.
func rebuilds(t *testing.T, dir, python string) {
	t.Helper()
	edit(t, filepath.Join(dir, "csrc/factor.h"), "#pragma once", "#pragma once  // in "+dir) // which no other test has compiled
	again := command(t, dir, tooltest.Path(t), "build", "--python", python)
	again.Env = append(os.Environ(), uncached) // what is not compiled was not stale
	var said strings.Builder
	again.Stderr = &said
	if err := again.Run(); err != nil {
		t.Fatalf("%v\n%s", err, said.String())
	}
	stderr := said.String()
	for unit, want := range map[string]bool{"csrc/cuda/scale.cu": true, "csrc/cpu/scale.cc": true, "opcast/registry.cc": false} {
		if strings.Contains(stderr, unit) != want {
			t.Errorf("after a header changed, compiled %s: %v, want %v\n%s", unit, !want, want, stderr)
		}
	}
	edit(t, filepath.Join(dir, "opcast.toml"), "90+PTX", "90")
	stdout, stderr := mustOpcast(t, "build", "-C", dir, "--python", python)
	if !strings.Contains(stderr, "scale.cu") || !strings.Contains(stdout, "(1 op, sm_80, sm_90,") {
		t.Errorf("after the architectures changed, build says %q\n%s", stdout, stderr)
	}
	cmd := command(t, dir, tooltest.Path(t), "build", "--python", python)
	cmd.Env = append(os.Environ(), compiler.ArchVariable+"=89")
	if stdout = run(t, cmd); !strings.Contains(stdout, "(1 op, sm_89, SHA") {
		t.Errorf("for the architecture of the environment, build says %q", stdout)
	}
}

// Kernels see no header of tvm-ffi and units of tvm-ffi none of CUDA: neither is on their path, and neither was read.
func TestHeadersAreApart(t *testing.T) {
	python(t) // the repository is built where this is set
	separate(t, root(t))
}

func separate(t *testing.T, dir string) {
	t.Helper()
	var commands []struct{ File, Output, Command string }
	text, err := os.ReadFile(filepath.Join(dir, "build/compile_commands.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &commands); err != nil {
		t.Fatal(err)
	}
	read := dependencies(t, dir)
	seen := map[bool]int{}
	for _, c := range commands {
		kernel, other := strings.HasPrefix(c.File, "csrc/"), "/nvidia/"
		if strings.Contains(c.File, "/ffi/") || filepath.Base(c.File) == "gpu_cuda.cu" {
			continue // hand-written exports, and the runtime's own use of CUDA
		}
		if kernel {
			other = "/tvm_ffi/"
		}
		includes := slices.DeleteFunc(strings.Fields(c.Command), func(w string) bool { return strings.HasSuffix(w, "/nvcc") })
		for _, path := range append(includes, read[c.Output]...) {
			if strings.Contains(path, other) {
				t.Errorf("%s sees %s", c.File, path)
			}
		}
		if len(read[c.Output]) == 0 {
			t.Errorf("%s: nothing is known of the headers that it read", c.File)
		}
		seen[kernel]++
	}
	if seen[true] == 0 || seen[false] == 0 {
		t.Errorf("looked at %v units", seen)
	}
}

// dependencies are the files that each object was made of, as the build has recorded them.
func dependencies(t *testing.T, dir string) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "build/release/records.json"))
	if err != nil {
		t.Fatal(err)
	}
	var records map[string]struct{ Reads map[string]string }
	if err := json.Unmarshal(text, &records); err != nil {
		t.Fatal(err)
	}
	found := map[string][]string{}
	for object, record := range records {
		found[object] = slices.Collect(maps.Keys(record.Reads))
	}
	return found
}

// Where there is no CUDA compiler, a build leaves CUDA out and says how to get one; it fails if CUDA was asked for.
func TestBuildWithoutNVCC(t *testing.T) {
	dir := demoProject(t)
	python, install := environment(t, python(t))
	install(pins(t, "apache-tvm-ffi", "ninja", "numpy", "ml_dtypes")...)
	hideNVCC(t)
	stdout, stderr := mustOpcast(t, "build", "-C", dir, "--python", python)
	for _, want := range []string{"note: CUDA was left out: no CUDA compiler", "-m pip install nvidia-cuda-nvcc=="} {
		if !strings.Contains(stderr, want) {
			t.Errorf("build says %q, want %q in it", stderr, want)
		}
	}
	if !strings.Contains(stdout, "(1 op, SHA-256") {
		t.Errorf("build says %q", stdout)
	}
	if code, err := elfcheck.DeviceCode(filepath.Join(dir, "build/release/libdemo.so")); err != nil || len(code) > 0 {
		t.Errorf("the library holds %q, %v", code, err)
	}
	got := strings.SplitN(run(t, command(t, root(t), python, "internal/e2e/build_cuda.py")), "\n", 2)
	want := []string{"[0. 1. 2. 3.]", "NotImplementedError: scale: no kernel for device cuda:0, available: cpu\n"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if code, _, stderr := opcast(t, "build", "-C", dir, "--device", "cuda", "--python", python); code != 3 {
		t.Errorf("--device cuda: exit code %d, want 3\n%s", code, stderr)
	}
	if code, _, stderr := opcast(t, "run", "scale", "--ptxas", "-C", dir, "--python", python); code != 3 || !strings.Contains(stderr, "no CUDA compiler") {
		t.Errorf("run --ptxas: exit code %d, want 3\n%s", code, stderr)
	}
	for _, command := range []string{"sass", "predict"} {
		if code, _, stderr := opcast(t, command, "-C", dir, "--python", python); code != 3 || !strings.Contains(stderr, "no CUDA compiler") {
			t.Errorf("%s: exit code %d, want 3\n%s", command, code, stderr)
		}
	}
	if code, _, stderr := opcast(t, "build", "-C", dir, "--device", "rocm", "--python", python); code != 2 {
		t.Errorf("--device rocm: exit code %d, want 2\n%s", code, stderr)
	}
}

// hideNVCC takes every folder with an nvcc from PATH.
func hideNVCC(t *testing.T) {
	t.Helper()
	folders := slices.DeleteFunc(filepath.SplitList(os.Getenv("PATH")), func(folder string) bool {
		_, err := exec.LookPath(filepath.Join(folder, "nvcc"))
		return err == nil
	})
	t.Setenv("PATH", strings.Join(folders, string(os.PathListSeparator)))
	t.Setenv("NVCC", "")
}

// Of two builds in one folder, the second waits for the first and says so. Until then, the first does not compile the kernel.
func TestBuildsWaitForEachOther(t *testing.T) {
	dir, python := demoProject(t), borrowed(t)
	said, wrapper := filepath.Join(dir, "said"), filepath.Join(dir, "cxx")
	write(t, wrapper, fmt.Appendf(nil, `#!/bin/sh
n=0
case "$*" in *csrc*) while [ ! -e %s ] && [ $n -lt 6000 ]; do n=$((n + 1)); sleep 0.05; done ;; esac
exec %s "$@"
`, said, strings.Join(cxxWords(t), " ")))
	if err := os.Chmod(wrapper, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("CXX", wrapper)
	type result struct {
		stdout string
		log    waitingLog
		err    error
	}
	results := make(chan *result, 2)
	for range 2 {
		go func() {
			r := &result{log: waitingLog{said: func() { write(t, said, nil) }}}
			cmd := command(t, "", tooltest.Path(t), "build", "-C", dir, "--device", "cpu", "--python", python)
			cmd.Stderr = &r.log
			out, err := cmd.Output()
			r.stdout, r.err = string(out), err
			results <- r
		}()
	}
	first, second := <-results, <-results
	if first.err != nil || second.err != nil || first.stdout != second.stdout {
		t.Errorf("builds ended with %v %q and %v %q", first.err, first.stdout, second.err, second.stdout)
	}
	if a, b := first.log.text.String(), second.log.text.String(); !strings.Contains(a, "compile csrc/") || strings.Contains(b, "compile ") ||
		!strings.Contains(b, "waiting for another opcast build in "+dir) {
		t.Errorf("first:\n%s\nsecond:\n%s", a, b)
	}
}

// waitingLog is what a build says. When it says that it waits, a function is called.
type waitingLog struct {
	text strings.Builder
	said func()
}

func (w *waitingLog) Write(p []byte) (int, error) {
	w.text.Write(p)
	if strings.Contains(w.text.String(), "waiting for another") {
		w.said()
	}
	return len(p), nil
}
