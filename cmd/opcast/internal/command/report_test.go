package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/opcast/opcast/cmd/opcast/internal/app"
	"github.com/opcast/opcast/internal/results/report"
)

// shardReport writes a part of a run with the result of one check, and what repeats it.
func shardReport(t *testing.T, library, check string, status report.Status) string {
	t.Helper()
	dir := t.TempDir()
	r := &report.Report{
		Schema: report.Schema, SuiteVersion: "4", Collection: "demo", LibrarySHA256: library, Device: "cpu",
		Results: []report.Result{{Op: "add", Adaptor: "numpy", Group: "Values", Check: check, Status: status}},
	}
	if status == report.Fail {
		r.Results[0].Reproducer = "cases/" + check + ".py"
		if err := os.Mkdir(filepath.Join(dir, "cases"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "cases", check+".py"), []byte("repeats "+check), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.WriteFiles(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A subcommand that does not exist is no success: scripts that compare two runs look at the exit code only.
func TestReportSubcommands(t *testing.T) {
	for _, args := range [][]string{{"report"}, {"report", "dif", "a", "b"}} {
		if code, _, stderr := start(t, args...); code != app.ExitUsage || !strings.Contains(stderr, "report") {
			t.Errorf("%v: exit code %d, want %d:\n%s", args, code, app.ExitUsage, stderr)
		}
	}
}

func TestReportMerge(t *testing.T) {
	good, bad := shardReport(t, "aa", "value", report.Pass), shardReport(t, "aa", "attrs", report.Fail)
	other, out := shardReport(t, "bb", "value", report.Pass), filepath.Join(t.TempDir(), "all")
	for name, test := range map[string]struct {
		args []string
		code int
		says string
	}{
		"passed":       {[]string{good, "-o", out + "1"}, 0, "1 passed, 0 failed, 0 skipped"},
		"failed":       {[]string{good, bad, "-o", out}, app.ExitFindings, "1 passed, 1 failed, 0 skipped"},
		"another run":  {[]string{good, other, "-o", out + "2"}, app.ExitUsage, "reports of different runs: the library is"},
		"no report":    {[]string{t.TempDir(), "-o", out + "3"}, app.ExitUsage, "report.json: no such file"},
		"no folder":    {[]string{"-o", out + "4"}, app.ExitUsage, "requires at least 1 arg"},
		"no place":     {[]string{good}, app.ExitUsage, "-o DIR"},
		"into its own": {[]string{bad, good, "-o", bad}, app.ExitFindings, "1 passed, 1 failed, 0 skipped"},
	} {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := start(t, append([]string{"report", "merge"}, test.args...)...)
			if text := stdout + stderr; code != test.code || !strings.Contains(text, test.says) {
				t.Errorf("exit code %d, want %d with %q:\n%s", code, test.code, test.says, text)
			}
		})
	}
	for _, dir := range []string{out, bad} {
		r, err := report.Read(filepath.Join(dir, report.File))
		if err != nil || len(r.Results) != 2 {
			t.Errorf("%s: %+v, %v", dir, r, err)
		}
		if text, err := os.ReadFile(filepath.Join(dir, "cases", "attrs.py")); err != nil || string(text) != "repeats attrs" {
			t.Errorf("%s: the reproducer says %q, %v", dir, text, err)
		}
	}
}

// A whole of which a part was interrupted is interrupted, and so it is no success.
func TestReportMergeInterrupted(t *testing.T) {
	whole, part, out := shardReport(t, "aa", "value", report.Pass), shardReport(t, "aa", "attrs", report.Pass), t.TempDir()
	r, err := report.Read(filepath.Join(part, report.File))
	if err != nil {
		t.Fatal(err)
	}
	r.Interrupted = &report.Interruption{Reason: "interrupted by SIGINT", NotRun: 3}
	if err := r.WriteFiles(part); err != nil {
		t.Fatal(err)
	}
	code, stdout, _ := start(t, "report", "merge", whole, part, "-o", out)
	if want := "interrupted by SIGINT: 3 checks did not run\n2 passed, 0 failed, 0 skipped\n"; code != app.ExitFindings || !strings.HasSuffix(stdout, want) {
		t.Errorf("exit code %d, want %d and the end %q:\n%s", code, app.ExitFindings, want, stdout)
	}
	if code, stdout, _ := start(t, "report", "diff", out, whole); code != app.ExitFindings || !strings.Contains(stdout, "attrs: pass, then –") {
		t.Errorf("diff: exit code %d:\n%s", code, stdout)
	}
	if code, stdout, _ := start(t, "report", "merge", out, "-o", t.TempDir()); code != app.ExitFindings || !strings.Contains(stdout, "3 checks did not run") {
		t.Errorf("merged again: exit code %d:\n%s", code, stdout)
	}
}

func TestReportDiff(t *testing.T) {
	good, bad := shardReport(t, "aa", "value", report.Pass), shardReport(t, "bb", "value", report.Fail)
	for name, test := range map[string]struct {
		args []string
		code int
		says string
	}{
		"the same":  {[]string{good, good}, 0, "0 results with another status"},
		"different": {[]string{good, bad}, app.ExitFindings, "add, numpy: Values: value: pass, then fail\n1 result with another status"},
		"no report": {[]string{good, t.TempDir()}, app.ExitUsage, "report.json: no such file"},
		"one only":  {[]string{good}, app.ExitUsage, "accepts 2 arg"},
	} {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := start(t, append([]string{"report", "diff"}, test.args...)...)
			if text := stdout + stderr; code != test.code || !strings.Contains(text, test.says) {
				t.Errorf("exit code %d, want %d with %q:\n%s", code, test.code, test.says, text)
			}
		})
	}
}

func TestReportSupport(t *testing.T) {
	good, bad := shardReport(t, "aa", "value", report.Pass), shardReport(t, "bb", "value", report.Fail)
	page := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(page, []byte(report.SupportBegin+"\n"+report.SupportEnd+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := start(t, "report", "support", good, "--markdown", page)
	if code != 0 || !strings.Contains(stdout, "| cpu | unknown |  | numpy | – | 1 | 1 | 0 | 0 |") {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
	if code, stdout, _ := start(t, "report", "support", bad, "--markdown", page); code != 0 || !strings.Contains(stdout, "| 1 | 0 | 1 | 0 |") {
		t.Errorf("exit code %d\n%s", code, stdout)
	}
	if text, err := os.ReadFile(page); err != nil || strings.Count(string(text), "numpy") != 1 || !strings.Contains(string(text), "| 1 | 0 | 1 | 0 |") {
		t.Errorf("%v\n%s", err, text)
	}
	for says, args := range map[string][]string{
		"report.json: no such file": {t.TempDir()}, "requires at least 1 arg": nil, "no place for the table": {good, "--markdown", good + "/report.json"},
	} {
		if code, _, stderr := start(t, append([]string{"report", "support"}, args...)...); code != app.ExitUsage || !strings.Contains(stderr, says) {
			t.Errorf("%q: exit code %d\n%s", args, code, stderr)
		}
	}
}

// Names of files and texts of definitions do not steer the terminal, nor do they begin lines of their own.
func TestNothingSteersTheTerminal(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a\x1b[31mb")
	if err := os.MkdirAll(filepath.Join(dir, "opdefs"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"opcast.toml":                           "name = \"demo\"\nversion = \"0.1.0\"\nlicense = \"MIT\"\n",
		"opdefs/x\x1b]0;t\x07.toml":             "doc = \"\\u001b[2J\u202e\"\n\"k\u009b\" = 1\n",
		"opdefs/y\nopcast.toml:1:1: error.toml": "kind = \"\\u001b\"\n",
		"opdefs/\xff\u202e.toml":                "a = \xff",
		"opdefs/\u202e.py":                      "def reference(x):\n    return x\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"check"}, {"check", "--json"}, {"gen"}, {"explain", "x\x1b"}, {"diff", "no\x1b"}, {"fmt", "--check"}, {"\x1b"}} {
		_, stdout, stderr := start(t, append([]string{"-C", dir}, args...)...)
		text := stdout + stderr
		if !utf8.ValidString(text) || strings.ContainsAny(text, "\x1b\x07\r\u009b\u202e") || strings.Contains(text, "\nopcast.toml:1:1: error.toml") || text == "" {
			t.Errorf("%q prints %q", args, text)
		}
	}
}
