package e2e

import (
	_ "embed"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/build"
	"github.com/opcast/opcast/internal/results/report"
	"github.com/opcast/opcast/internal/testkit/tooltest"
)

//go:embed emulated_rocm.py
var emulatedROCmScript string

//go:embed emulated_rocm_faults.py
var emulatedROCmFaultsScript string

// plantedAroundHIP are mistakes in the runtime for AMD's GPUs, what must find each, and what that prints then.
var plantedAroundHIP = map[string]struct{ was, is, by, found string }{
	"wrong stream":       {"block, arguments, shared, on);\n  });", "block, arguments, shared, on ? nullptr : on);\n  });", "suite", "got NaN, want the same bits as"},
	"guard not restored": {"if (changed_) With(", "if (false) With(", "calls", "got 0, want 1"},
	"wrong device":       {"r.set_device(device)", "r.set_device(0 * device)", "calls", "got 'total: kernel launch: an illegal memory access"},
	"another architecture": {
		"static_cast<int>(std::strtol(name + 3, nullptr, 16))", "1 + static_cast<int>(std::strtol(name + 3, nullptr, 16))",
		"calls", "this device is gfx90b",
	},
	"wait in a capture": {
		"    return options.cooperative", "    r.stream_synchronize(on);\n    return options.cooperative",
		"calls", "operation failed due to a previous error during capture",
	},
	"capture that is not noticed": {
		"*yes = others || state != hipStreamCaptureStatusNone", "*yes = others", "calls", "got ('', 0, 0), want ('total: mine: a registered kernel",
	},
	"capture on the default stream": {
		"others = error == hipErrorStreamCaptureImplicit", "others = error == hipErrorNoDevice",
		"calls", "would make the legacy stream depend on a capturing blocking stream",
	},
	"error that stays":                  {"(void)runtime.get_last_error();", "(void)runtime;", "faults", "got 999, want 0"},
	"error that stays after a question": {"if (others) (void)r.get_last_error();", "", "calls", "in a graph', 906, 0), want"},
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
	calls := func() (string, error) { return emulatedROCmCalls(t, dir, python, emulatedROCmScript) }
	faults := func() (string, error) { return emulatedROCmCalls(t, dir, python, emulatedROCmFaultsScript) }
	if out, err := calls(); err != nil || out != "52" {
		t.Errorf("the calls print %q, %v", out, err)
	}
	want := "108 hipGetDevice hipGetDeviceCount hipGetDevicePropertiesR0600 hipLaunchKernel hipSetDevice hipStreamIsCapturing"
	if out, err := faults(); err != nil || out != want {
		t.Errorf("the calls with faults print %q, %v; want %q", out, err, want)
	}
	write(t, only, []byte("* backend side-stream\n"))
	suite := func() (string, error) { return test("--only", only) }
	foundAroundHIP(t, dir, make_, map[string]func() (string, error){"suite": suite, "calls": calls, "faults": faults})
}

// foundAroundHIP builds the project with each mistake alone, and expects what must find it to do so; a short run has one per finder.
func foundAroundHIP(t *testing.T, dir string, build func(), finders map[string]func() (string, error)) {
	t.Helper()
	file := filepath.Join(dir, "backend", "opcast", "gpu_hip.hip")
	right, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for name, fault := range plantedAroundHIP {
		if testing.Short() && !slices.Contains([]string{"wrong stream", "guard not restored", "error that stays"}, name) {
			continue // one for each of the finders
		}
		write(t, file, right)
		edit(t, file, fault.was, fault.is)
		build()
		if out, err := finders[fault.by](); err == nil || !strings.Contains(out, fault.found) {
			t.Errorf("%s: printed %q, error %v; want it to fail with %q", name, out, err, fault.found)
		}
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

// emulatedROCmCalls runs a script and returns what it prints.
func emulatedROCmCalls(t *testing.T, dir, python, script string) (string, error) {
	t.Helper()
	cmd := command(t, dir, python, "-c", script)
	folders := []string{filepath.Join(root(t), "conformance", "internal", "worker"), filepath.Join(dir, "backend", "python", "src")}
	cmd.Env = append(os.Environ(), "PYTHONSAFEPATH=1", "PYTHONPATH="+strings.Join(folders, string(os.PathListSeparator)),
		"LD_LIBRARY_PATH="+build.DriverIn(dir, build.EmulatedROCm))
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}
