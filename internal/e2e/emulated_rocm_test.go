package e2e

import (
	_ "embed"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/build"
	"github.com/opcast/opcast/internal/report"
	"github.com/opcast/opcast/internal/tooltest"
)

//go:embed emulated_rocm.py
var emulatedROCmScript string

// plantedAroundHIP are mistakes in the runtime for AMD's GPUs: one that the suite must find, and one for the script.
var plantedAroundHIP = [][2]string{
	{"r.launch_kernel(kernel, grid, block, arguments, shared, on)", "r.launch_kernel(kernel, grid, block, arguments, shared, on ? nullptr : on)"},
	{"if (changed_) With(", "if (false) With("},
}

// checksOfROCm are those that tell how a library treats a device: whose arrays it takes, on which stream it works, what it refuses.
const checksOfROCm = `
* backend side-stream
* backend graph
* backend errors
* backend side-effects
* backend variants
* backend threads
* native value
* native errors
* native random-calls
* op_call value
* op_call errors
`

// A library for AMD's GPUs, with the runtime that it has for these, passes the suite on an emulated device: through the callers that
// need no framework, on streams, in graphs and where calls are refused. What the runtime does wrong is found there.
func TestEmulatedROCm(t *testing.T) {
	t.Parallel()
	python, tool, dir := withoutTorch(t), tooltest.Path(t), wavesProject(t)
	test := func(words ...string) (string, error) {
		common := []string{tool, "test", "--device", build.EmulatedROCm, "--no-build", "--python", python}
		out, err := command(t, dir, append(common, words...)...).CombinedOutput()
		return string(out), err
	}
	make_ := func() { run(t, command(t, dir, tool, "build", "--device", build.EmulatedROCm, "--python", python)) }
	make_()
	only := filepath.Join(dir, "only")
	write(t, only, []byte(valuesOfKernels+checksOfROCm))
	out, err := test("--only", only, "--random", "200")
	if err != nil || !strings.Contains(out, " 0 failed") {
		t.Fatalf("%v\n%s", err, out)
	}
	everyPassed(t, filepath.Join(dir, "build", "report", "report.json"), checksOfROCm)
	if out, err := emulatedROCmCalls(t, dir, python); err != nil || out != "40" {
		t.Errorf("the calls print %q, %v", out, err)
	}

	for _, fault := range plantedAroundHIP {
		edit(t, filepath.Join(dir, "backend", "opcast", "gpu_hip.hip"), fault[0], fault[1])
	}
	make_()
	write(t, only, []byte("* backend side-stream\n"))
	if out, err := test("--only", only); err == nil || !strings.Contains(out, "got NaN, want the same bits as") {
		t.Errorf("a kernel on another stream is not found: %v\n%s", err, out)
	}
	if out, err := emulatedROCmCalls(t, dir, python); err == nil || !strings.Contains(out, "AssertionError: got 0, want 1") {
		t.Errorf("a device that is not restored is not found: %v\n%s", err, out)
	}
}

// everyPassed expects of each check in a list that it has passed for the op, and not only been skipped.
func everyPassed(t *testing.T, file, list string) {
	t.Helper()
	r, err := report.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(strings.TrimSpace(list)) {
		words := strings.Fields(line)
		passed := func(x report.Result) bool {
			return x.Adaptor == words[1] && x.Check == words[2] && x.Status == report.Pass
		}
		if !slices.ContainsFunc(r.Results, passed) {
			t.Errorf("%s through %s has not passed", words[2], words[1])
		}
	}
}

// wavesProject is a collection with a kernel for both vendors' GPUs and a runtime of its own, for mistakes to be planted.
func wavesProject(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for to, from := range map[string]string{
		".": "internal/e2e/testdata/waves", "backend/opcast": "backend/opcast", "backend/emulator": "backend/emulator",
	} {
		if err := os.CopyFS(filepath.Join(dir, to), os.DirFS(filepath.Join(root(t), from))); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// emulatedROCmCalls runs the script and returns what it prints.
func emulatedROCmCalls(t *testing.T, dir, python string) (string, error) {
	t.Helper()
	cmd := command(t, dir, python, "-c", emulatedROCmScript)
	folders := []string{filepath.Join(root(t), "conformance", "worker"), filepath.Join(dir, "backend", "python", "src")}
	cmd.Env = append(os.Environ(), "PYTHONSAFEPATH=1", "PYTHONPATH="+strings.Join(folders, string(os.PathListSeparator)),
		"LD_LIBRARY_PATH="+build.DriverIn(dir, build.EmulatedROCm))
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}
