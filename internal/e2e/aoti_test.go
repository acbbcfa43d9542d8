package e2e

import (
	"path/filepath"
	"strings"
	"testing"
)

// A program that PyTorch compiled ahead of time runs in C++, in a process without Python, and computes the same bits.
func TestAheadOfTime(t *testing.T) {
	t.Parallel()
	interpreter, dir, testdata := python(t), t.TempDir(), filepath.Join(root(t), "internal", "e2e", "testdata")
	env := tvm(t)
	torch := filepath.Dir(env.Includes["torch"])
	made := command(t, "", interpreter, "-W", "ignore", filepath.Join(testdata, "aoti.py"), dir)
	made.Env = append(made.Environ(), "TORCHINDUCTOR_CACHE_DIR="+filepath.Join(dir, "cache"))
	run(t, made)
	program, libraries := filepath.Join(dir, "program"), filepath.Join(torch, "lib")
	run(t, command(t, "", "c++", "-std=c++20", "-O0", "-isystem", env.Includes["torch"],
		"-isystem", filepath.Join(env.Includes["torch"], "torch", "csrc", "api", "include"), filepath.Join(testdata, "aoti.cc"), "-o", program,
		"-L"+libraries, "-Wl,-rpath,"+libraries, "-Wl,--no-as-needed", "-ltorch_cpu", "-ltorch", "-lc10", "-Wl,--allow-shlib-undefined", "-ldl"))
	own := func(folder, name string) string { return filepath.Join(root(t), folder, "lib", name) }
	told := run(t, command(t, "", program, dir, env.TVMLibrary, own("backend/python/src/opcast_backend", "libopcast.so"),
		own("adaptors/torch/src/opcast_torch", "libopcast_torch.so")))
	if want := "same bits, without Python"; strings.TrimSpace(told) != want {
		t.Errorf("got %q, want %q", told, want)
	}
}
