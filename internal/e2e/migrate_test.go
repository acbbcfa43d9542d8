package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// unpacked lays out the extensions of testdata/migrate.txtar.
func unpacked(t *testing.T) string {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join("testdata", "migrate.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, f := range archive.Files {
		write(t, filepath.Join(dir, f.Name), f.Data)
	}
	return dir
}

// Extensions as people write them become definitions that check accepts, and kernels that compile without a warning. What could
// not be read is told.
func TestDrafts(t *testing.T) {
	t.Parallel()
	dir := unpacked(t)
	for _, tt := range []struct {
		folder, files, ops string
		told               []string
	}{
		{"bound", "csrc/bind.cpp csrc/norm.h", "5 ops", []string{
			`csrc/bind.cpp:18: not read: "version" is bound to a lambda`, `csrc/bind.cpp:19: not read: "elsewhere" is bound to elsewhere, which no file declares`,
			"csrc/bind.cpp:20: not read: kit::bind_attention(...)", `csrc/bind.cpp:21: not read: "by_macro" is bound to by_macro, which no file declares`,
			`csrc/bind.cpp:16: workspace_size: not drafted: it returns int64_t`, `csrc/bind.cpp:17: with_plan: not drafted: its parameter plan has the type Plan*`}},
		{"schemas", "torch_bindings.cpp", "7 ops", []string{
			"torch_bindings.cpp:16: num_sms: not drafted: it returns int", `torch_bindings.cpp:19: not read: "torn(Tensor x -> Tensor"`,
			"torch_bindings.cpp:25: not read: m.class_", "gather_cache: device is left out: an op has no Device?"}},
		{"exported", "src/norm.cc", "2 ops", []string{
			"src/norm.cc:16: version: not drafted: it returns int64_t", `src/norm.cc:17: not read: "size" is bound to a lambda`}},
		{"pointers", "include/kernels.h src/kernels.cc", "7 ops", []string{
			"include/kernels.h:17: not read: helper is static", "its template has parameters that are no types"}},
		{"gpu", "include/norm.cuh", "2 ops", []string{
			"include/norm.cuh:14: not read: norm_kernel runs on the GPU", "add the file that defines launch_half to sources"}},
	} {
		t.Run(tt.folder, func(t *testing.T) {
			project := filepath.Join(dir, tt.folder)
			words := []string{"init", project}
			for name := range strings.FieldsSeq(tt.files) {
				words = append(words, "--from", filepath.Join(project, name))
			}
			_, stderr := mustOpcast(t, words...)
			for _, told := range tt.told {
				if !strings.Contains(stderr, told) {
					t.Errorf("not told: %s\n%s", told, stderr)
				}
			}
			if stdout, _ := mustOpcast(t, "-C", project, "check"); stdout != tt.ops+", no mistakes\n" {
				t.Error(stdout)
			}
			mustOpcast(t, "-C", project, "fmt", "--check")
			draftsCompile(t, project)
		})
	}
}

// draftsCompile compiles all drafts of kernels in one unit; those for CUDA as the CPU sees them, with its headers.
func draftsCompile(t *testing.T, project string) {
	t.Helper()
	options := []string{"-std=c++17", "-Wall", "-Wextra", "-fsyntax-only", "-I", filepath.Join(root(t), "backend"), "-I", filepath.Join(project, "backend", "gen")}
	kernels, _ := filepath.Glob(filepath.Join(project, "csrc", "cpu", "*.cc"))
	if len(kernels) > 0 {
		options = append(options, "-Werror")
	} else {
		kernels, _ = filepath.Glob(filepath.Join(project, "csrc", "cuda", "*.cu"))
		headers, _ := filepath.Glob(filepath.Join(filepath.Dir(filepath.Dir(python(t))), "lib", "*", "site-packages", "nvidia", "cu*", "include"))
		if len(headers) == 0 {
			t.Skip("the environment has no headers of CUDA: run make cuda")
		}
		options = append(options, "-isystem", headers[0])
	}
	var unit strings.Builder
	for _, kernel := range kernels {
		unit.WriteString("#include \"" + kernel + "\"\n")
	}
	if len(kernels) == 0 {
		t.Fatal("no kernels")
	}
	write(t, filepath.Join(project, "all.cc"), []byte(unit.String()))
	run(t, command(t, project, append(append([]string{"c++"}, options...), "all.cc")...))
}

// Drafts that call functions on pointers compute what these do, once the shapes are decided, and others say that they are drafts.
func TestDraftsCall(t *testing.T) {
	t.Parallel()
	project, interpreter := filepath.Join(unpacked(t), "pointers"), borrowed(t)
	mustOpcast(t, "init", project, "--from", filepath.Join(project, "include", "kernels.h"), "--from", filepath.Join(project, "src", "kernels.cc"))
	manifest, err := os.ReadFile(filepath.Join(project, "opcast.toml"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(project, "opcast.toml"), append([]byte("adaptors = [\"numpy\"]\n"), manifest...))
	build := []string{"-C", project, "build", "--python", interpreter}
	if !testing.Short() {
		build = append(build, "--native") // which compiles the runtime for this test alone
	}
	mustOpcast(t, build...)
	const calls = `
import numpy as np, pointers_numpy as ops
x, w = np.arange(6, dtype="f4").reshape(2, 3), np.array([1, 10, 100], "f4")
assert ops.scale_rows(x, w, eps=0.5).tolist() == (x * w + 0.5).tolist()
for dtype in ("f4", "f8"):
    a = np.arange(4, dtype=dtype)
    assert ops.add(a, a + 1).tolist() == (2 * a + 1).tolist()
print(ops.gather_i8(np.array([[1, 2], [3, 4]], "i1"), np.array([1, 0], "i4"), mode="").tolist())
try:
    ops.unrolled(np.zeros(3, "f4"))
except RuntimeError as error:
    print(error)
`
	out := run(t, command(t, project, interpreter, "-c", calls))
	if want := "[[3, 4], [1, 2]]\nunrolled: csrc/cpu/unrolled.cc is a draft: let it do what unrolled of include/kernels.h, line 10, does\n"; out != want {
		t.Errorf("got %q, want %q", out, want)
	}
}
