package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/results/report"
	"github.com/opcast/opcast/internal/testkit/tooltest"
)

// tested runs `opcast test` and returns its exit code, what it printed, and its report.
func tested(t *testing.T, tool string, words ...string) (code int, printed string, r *report.Report) {
	t.Helper()
	return reported(t, tool, "test", words...)
}

// reported runs a command that writes a report, and returns its exit code, what it printed, and the report.
func reported(t *testing.T, tool, name string, words ...string) (code int, printed string, r *report.Report) {
	t.Helper()
	dir := t.TempDir()
	words = append([]string{name, "--python", python(t), "--report", dir}, words...)
	cmd := command(t, root(t), append([]string{tool}, words...)...)
	out, err := cmd.CombinedOutput()
	code = cmd.ProcessState.ExitCode()
	if err != nil && code < 0 {
		t.Fatalf("%v\n%s", err, out)
	}
	if code > 1 {
		return code, string(out), nil
	}
	if r, err = report.Read(filepath.Join(dir, report.File)); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return code, string(out), r
}

// only is a file that chooses checks, for all ops and adaptors.
func only(t *testing.T, checks ...string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "only")
	write(t, name, []byte("* * "+strings.Join(checks, "\n* * ")+"\n"))
	return name
}

// failed are the checks that failed.
func failed(r *report.Report) []string {
	var out []string
	for _, result := range r.Results {
		if result.Status.Bad() && !slices.Contains(out, result.Check) {
			out = append(out, result.Check)
		}
	}
	slices.Sort(out)
	return out
}

// handWritten compiles the library, with errors planted by macros.
func handWritten(t *testing.T, macros ...string) string {
	t.Helper()
	library := filepath.Join(t.TempDir(), "libtheirs.so")
	words := []string{"c++", "-std=c++17", "-O1", "-shared", "-fPIC", "-isystem", tvmInclude(t), "-o", library}
	for _, macro := range macros {
		words = append(words, "-D"+macro)
	}
	run(t, command(t, filepath.Join(root(t), "internal", "e2e", "testdata", "others"), append(words, "weigh.cc")...))
	return library
}

// A library that someone wrote by hand is judged by its results and by what wrong calls do, not by its words.
func TestHandWrittenLibrary(t *testing.T) {
	t.Parallel()
	tool := tooltest.Path(t)
	for name, test := range map[string]struct {
		macros, fails []string
	}{
		"right":             {nil, nil},
		"forgets the last":  {[]string{"FORGETS_THE_LAST"}, []string{"value"}},
		"writes beyond":     {[]string{"WRITES_BEYOND"}, []string{"out"}},
		"trusts attributes": {[]string{"TRUSTS_ATTRS"}, []string{"errors"}},
	} {
		t.Run(name, func(t *testing.T) {
			code, printed, r := tested(t, tool,
				"--library", handWritten(t, test.macros...), "--opdefs", filepath.Join("internal", "e2e", "testdata", "others", "opdefs"))
			if test.fails == nil {
				if code != 0 {
					t.Errorf("exit code %d\n%s", code, printed)
				}
				explained(t, r, "words of its errors", "no _opcast_force")
				return
			}
			for _, check := range test.fails {
				if code != 1 || !slices.Contains(failed(r), check) {
					t.Errorf("exit code %d, failed: %q, want %s\n%s", code, failed(r), check, printed)
				}
			}
		})
	}
}

// The memory that a kernel takes beside its arguments is bounded, whatever library it is in.
func TestWorkingMemory(t *testing.T) {
	t.Parallel()
	tool, opdefs := tooltest.Path(t), filepath.Join("internal", "e2e", "testdata", "others", "opdefs")
	for status, macros := range map[report.Status][]string{report.Pass: nil, report.Fail: {"HOLDS_THE_SQUARE"}} {
		_, printed, r := tested(t, tool, "--library", handWritten(t, macros...), "--opdefs", opdefs, "--profile", "extended", "--only", only(t, "working-memory"))
		if r == nil || !slices.ContainsFunc(r.Results, func(x report.Result) bool { return x.Status == status }) {
			t.Errorf("with %q, nothing has the status %s\n%s", macros, status, printed)
		}
	}
}

// explained expects reasons for what cannot be judged.
func explained(t *testing.T, r *report.Report, reasons ...string) {
	t.Helper()
	for _, reason := range reasons {
		if !slices.ContainsFunc(r.Results, func(result report.Result) bool {
			return result.Status == report.Unsupported && strings.Contains(result.Reason, reason)
		}) {
			t.Errorf("nothing is unsupported because of %q", reason)
		}
	}
}

// Wrong uses are told before anything starts.
func TestOthersMisused(t *testing.T) {
	t.Parallel()
	tool := tooltest.Path(t)
	folder := filepath.Join("internal", "e2e", "testdata", "others")
	definitions := []string{"--opdefs", filepath.Join(folder, "opdefs")}
	for name, test := range map[string]struct {
		words []string
		code  int
		text  string
	}{
		"no definition": {[]string{"--callable", "numpy:nothing=m:f"}, 2, `op "nothing" of m:f: unknown name`},
		"no function":   {[]string{"--callable", "numpy:weigh"}, 2, "names no op"},
		"no file":       {[]string{"--callable", "numpy:weigh=nowhere.py:f"}, 2, "no such file"},
		"no library":    {[]string{"--library", "nowhere.so"}, 3, "nowhere.so"},
		"no module":     {[]string{"--callable", "numpy:weigh=no_such_module:f"}, 3, "No module named 'no_such_module'"},
		"not called":    {[]string{"--callable", "native:weigh=m:f"}, 2, `adaptor "native" of m:f: unknown name`},
		"not loadable":  {[]string{"--library", filepath.Join(folder, "weigh.cc")}, 3, "weigh.cc"},
		"ends":          {[]string{"--callable", "numpy:weigh=" + filepath.Join(folder, "ends.py") + ":weigh"}, 3, "SystemExit: 7"},
		"no callable":   {[]string{"--callable", "numpy:weigh=" + filepath.Join(folder, "relu.py") + ":np"}, 3, "np is no function"},
		"no Python":     {[]string{"--python", "/bin/true", "--library", "nowhere.so"}, 3, "/bin/true is no Python"},
		"no shard":      {[]string{"--library", "nowhere.so", "--shard", "3/2"}, 2, `shard "3/2"`},
	} {
		t.Run(name, func(t *testing.T) {
			code, printed, _ := tested(t, tool, append(definitions, test.words...)...)
			if code != test.code || !strings.Contains(printed, test.text) {
				t.Errorf("exit code %d, want %d with %q\n%s", code, test.code, test.text, printed)
			}
		})
	}
}

// A run in parts says what a run in one says; what failed last is run alone.
func TestPartsOfARun(t *testing.T) {
	t.Parallel()
	tool := tooltest.Path(t)
	folder := filepath.Join("internal", "e2e", "testdata", "others")
	words := []string{
		"--opdefs", filepath.Join(folder, "opdefs"),
		"--callable", "numpy:weigh=" + filepath.Join(folder, "functions.py") + ":off_by_one",
	}
	_, _, whole := tested(t, tool, words...)
	_, printed, jobs := tested(t, tool, append(words, "--jobs", "2")...)
	if a, b := statuses(whole), statuses(jobs); !slices.Equal(a, b) {
		t.Errorf("in one process:\n%s\nin two:\n%s\n%s", strings.Join(a, "\n"), strings.Join(b, "\n"), printed)
	}
	var parts []*report.Report
	for _, shard := range []string{"1/2", "2/2"} {
		_, _, part := tested(t, tool, append(words, "--shard", shard)...)
		parts = append(parts, part)
	}
	merged, err := report.Merge(parts...)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := statuses(whole), statuses(merged); !slices.Equal(a, b) {
		t.Errorf("in one process:\n%s\nin shards:\n%s", strings.Join(a, "\n"), strings.Join(b, "\n"))
	}

	dir := t.TempDir()
	if err := whole.WriteFiles(dir); err != nil {
		t.Fatal(err)
	}
	for _, jobs := range []string{"1", "2"} {
		again := append([]string{"test", "--python", python(t)}, append(words, "--report", dir, "--last-failed", "--jobs", jobs)...)
		out, _ := command(t, root(t), append([]string{tool}, again...)...).CombinedOutput() // it fails again
		last, err := report.Read(filepath.Join(dir, report.File))
		if err != nil {
			t.Fatal(err)
		}
		if got := failed(last); !slices.Equal(got, failed(whole)) || len(last.Results) >= len(whole.Results) {
			t.Errorf("%s jobs: what failed last is %q, want %q\n%s", jobs, got, failed(whole), out)
		}
	}
}

func statuses(r *report.Report) []string {
	var out []string
	for _, result := range r.Results {
		out = append(out, strings.Join([]string{result.Op, result.Adaptor, result.Title(), string(result.Status)}, " "))
	}
	slices.Sort(out)
	return out
}

// The first step of a migration: values and times of both, and the exit code that of ours.
func TestCompare(t *testing.T) {
	t.Parallel()
	tool := tooltest.Path(t)
	file := filepath.Join("internal", "e2e", "testdata", "others", "relu.py")
	code, printed, r := reported(t, tool, "compare", "--no-build", "eltwise_relu", "numpy:"+file+":relu")
	if code != 0 || len(r.Timings) == 0 {
		t.Fatalf("exit code %d\n%s", code, printed)
	}
	for _, timing := range r.Timings {
		if !(timing.Ours > 0 && timing.Theirs > 0) {
			t.Errorf("%+v", timing)
		}
	}
	for _, text := range []string{"largest error in ulp", "time of a call"} {
		if !strings.Contains(printed, text) {
			t.Errorf("%q is missing:\n%s", text, printed)
		}
	}
}

// What becomes of theirs is told, and is neither a failure nor a pass; ours is judged all the same.
func TestCompareWithBadKernels(t *testing.T) {
	t.Parallel()
	tool := tooltest.Path(t)
	file := filepath.Join("internal", "e2e", "testdata", "others", "relu.py")
	for function, told := range map[string]string{"raises": "raised RuntimeError: not today", "too_much": "elements differ", "dies": "the process died"} {
		code, printed, r := reported(t, tool, "compare", "--no-build", "eltwise_relu", "numpy:"+file+":"+function)
		if code != 0 {
			t.Errorf("%s: exit code %d\n%s", function, code, printed)
			continue
		}
		for _, result := range r.Results {
			want := report.Pass
			if result.Adaptor != "numpy" {
				want = report.Skip
			}
			if result.Status != want || want == report.Skip && !strings.Contains(result.Reason, told) {
				t.Errorf("%s: %s is %s: %s", function, result.Adaptor, result.Status, result.Reason)
			}
		}
		if len(r.Checks) != 1 || r.Checks[0].ID != "against" {
			t.Errorf("%s: the report lists %d checks", function, len(r.Checks))
		}
	}
}

// The suite is part of the command, which needs no Go.
func TestSuiteNeedsNoGo(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(root(t), "internal", "e2e", "testdata", "others")
	cmd := exec.CommandContext(t.Context(), tooltest.Path(t), "test", "--python", python(t), "--report", t.TempDir(), "--jobs", "2",
		"--opdefs", filepath.Join(folder, "opdefs"), "--callable", "numpy:weigh="+filepath.Join(folder, "functions.py")+":weigh")
	cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), "PATH="+t.TempDir())
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), ", 0 failed, ") {
		t.Errorf("%v\n%s", err, out)
	}
}
