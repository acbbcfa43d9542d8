package mutants_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/opcast/opcast/conformance/internal/mutants"
	"github.com/opcast/opcast/conformance/internal/mutate"
	"github.com/opcast/opcast/conformance/internal/run"
	"github.com/opcast/opcast/conformance/internal/testkit/fake"
	"github.com/opcast/opcast/internal/results/report"
)

// writeEquivalent makes a project folder whose list of equivalent mutants has this text.
func writeEquivalent(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, filepath.FromSlash(mutants.EquivalentFile))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestLoadEquivalent(t *testing.T) {
	const entry = "[[equivalent]]\nop = \"*\"\nlayer = \"numpy\"\nkind = \"drop-guard\"\n"
	for _, test := range []struct{ name, text, want string }{
		{"complete", entry + `reason = "the kernel refuses it, too"`, ""},
		{"no reason", entry, "needs op, layer, kind and reason"},
		{"an unknown key", entry + `because = "x"`, "mutants.toml"},
	} {
		t.Run(test.name, func(t *testing.T) {
			list, err := mutants.LoadEquivalent(writeEquivalent(t, test.text))
			switch {
			case test.want == "" && (err != nil || len(list) != 1):
				t.Errorf("got %v, %v", list, err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
	if list, err := mutants.LoadEquivalent(t.TempDir()); err != nil || list != nil {
		t.Errorf("without a file: got %v, %v", list, err)
	}
}

func TestEquivalent(t *testing.T) {
	x := &mutate.Mutant{
		ID: "norm/numpy/drop-guard/1", Op: "norm", File: "adaptors/numpy/src/toy_numpy/_ops/norm.py", Before: "is",
		Text:     "type(x) is ndarray",
		Operator: &mutate.Operator{Kind: "drop-guard"},
	}
	listed := mutants.Equivalent{Op: "*", Layer: "numpy", Kind: "drop-guard", Before: "ndarray", Reason: "it is refused later"}
	for _, test := range []struct {
		name    string
		entry   func(*mutants.Equivalent)
		verdict report.Mutant
		want    string
	}{
		{"listed", nil, report.Mutant{Verdict: report.Survived}, report.Equivalent},
		{"listed, but noticed", nil, report.Mutant{Verdict: report.Killed, By: "errors"}, report.Survived},
		{"of another op", func(e *mutants.Equivalent) { e.Op = "conv" }, report.Mutant{Verdict: report.Survived}, report.Survived},
		{"of another layer", func(e *mutants.Equivalent) { e.Layer = "jax" }, report.Mutant{Verdict: report.Killed}, report.Killed},
		{"of another text", func(e *mutants.Equivalent) { e.Before = "list" }, report.Mutant{Verdict: report.Killed}, report.Killed},
	} {
		t.Run(test.name, func(t *testing.T) {
			entry := listed
			if test.entry != nil {
				test.entry(&entry)
			}
			m := &mutants.Runner{Known: []mutants.Equivalent{entry}}
			m.ApplyEquivalent(x, &test.verdict)
			if test.verdict.Verdict != test.want {
				t.Errorf("got %s (%s), want %s", test.verdict.Verdict, test.verdict.Reason, test.want)
			}
		})
	}
}

func TestMutantTable(t *testing.T) {
	began := time.Date(2026, 11, 22, 1, 2, 3, 0, time.UTC)
	got := mutants.Markdown([]report.Mutant{
		{ID: "norm/backend/drop-rule/1", Kind: "drop-rule", Verdict: report.Killed, By: "errors", Expected: []string{"errors"}, Seconds: 90},
		{ID: "norm/backend/drop-rule/2", Kind: "drop-rule", Verdict: report.Killed, By: "value", Expected: []string{"errors"}},
		{ID: "norm/backend/drop-rule/3", Kind: "drop-rule", Verdict: report.Survived},
		{ID: "norm/torch/vmap-axis/1", Kind: "vmap-axis", Verdict: report.Equivalent, Reason: "no op | has it"},
		{ID: "norm/backend/wrong-stream/1", Kind: "wrong-stream", Verdict: report.NotRun},
	}, began)
	for _, want := range []string{
		"22 November 2026", "5 mutants, whose checks took 1m30s",
		"| backend | drop-rule | 3 | 2 | 1 | 0 | 0 | 1 |\n",
		"| torch | vmap-axis | 1 | 0 | 0 | 1 | 0 | 0 |\n",
		"| **all** | | 5 | 2 | 1 | 1 | 1 | 1 |\n",
		"| norm/backend/drop-rule/3 |",
		`no op \| has it`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the table lacks %q:\n%s", want, got)
		}
	}
}

func TestWriteTable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mutants.md")
	for _, table := range []string{"first\n", "second\n"} {
		if err := mutants.WriteTable(path, table); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil || string(text) != mutants.TableMark+"\nsecond\n" {
		t.Errorf("got %q, %v", text, err)
	}
	if err := os.WriteFile(path, []byte("# Somebody's page\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := mutants.WriteTable(path, "third\n"); err == nil {
		t.Error("a page without the mark was overwritten")
	}
}

// TestExpectedChecksExist holds the names in the operators against the checks: a misspelt one would never be looked for.
func TestExpectedChecksExist(t *testing.T) {
	have := map[string]bool{}
	for _, check := range run.Checks() {
		have[check.ID] = true
	}
	for _, cpp := range []bool{true, false} {
		list, err := mutate.Operators(cpp)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range list {
			for _, id := range o.Expect {
				if !have[id] {
					t.Errorf("operator %s, %s, expects the check %q, which does not exist", o.Kind, o.Doc, id)
				}
			}
		}
	}
}

func TestRounds(t *testing.T) {
	b := &mutants.Sandbox{Project: fake.Toy(t)}
	var list []*mutate.Mutant
	for _, op := range []string{"norm", "norm", "norm_backward", "affine", "", "affine", ""} {
		list = append(list, &mutate.Mutant{Op: op, Operator: &mutate.Operator{}})
	}
	var got []string
	for _, round := range b.Rounds(list) {
		var names []string
		for _, x := range round {
			names = append(names, x.Op)
		}
		got = append(got, strings.Join(names, "+"))
	}
	// An op and its gradient call each other, and what has no op is in all calls.
	if diff := cmp.Diff([]string{"norm+affine", "norm+affine", "norm_backward", "", ""}, got); diff != "" {
		t.Error(diff)
	}
}

func TestCopyProject(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	files := map[string]bool{
		"opcast.toml": true, "backend/gen/norm.gen.cc": true, "build/release/.ninja_log": true, "build/report/report.json": false,
		".venv/bin/python": false, "env/pyvenv.cfg": false, "adaptors/x/__pycache__/a.pyc": false,
	}
	for name := range files {
		path := filepath.Join(from, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	old := time.Now().Add(-time.Hour).Truncate(time.Second)
	if err := os.Chtimes(filepath.Join(from, "opcast.toml"), old, old); err != nil {
		t.Fatal(err)
	}
	if err := mutants.CopyProject(from, to); err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		if _, err := os.Stat(filepath.Join(to, filepath.FromSlash(name))); (err == nil) != want {
			t.Errorf("%s: got %v, want it copied: %v", name, err, want)
		}
	}
	if info, err := os.Stat(filepath.Join(to, "opcast.toml")); err != nil || !info.ModTime().Equal(old) {
		t.Errorf("the copy lost the time of the file: %v", err)
	}
}
