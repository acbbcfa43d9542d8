package e2e

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/load"
	"github.com/opcast/opcast/internal/results/report"
	"github.com/opcast/opcast/internal/ship/matrix"
	"github.com/opcast/opcast/internal/testkit/tooltest"
)

// TestMatrix runs the smallest op with the oldest versions of what is quickly installed. PyTorch has gigabytes: make matrix
// runs everything.
func TestMatrix(t *testing.T) {
	t.Parallel()
	names := []string{"numpy oldest", "jax oldest"}
	fmt.Printf("note: the matrix is %s here, for one op: the others need gigabytes and half an hour, make matrix runs them\n",
		strings.Join(names, " and "))
	out := t.TempDir()
	words := []string{tooltest.Path(t), "matrix", "--no-build", "--python", python(t), "--report", out}
	for _, name := range names {
		words = append(words, "--environment", name)
	}
	t.Log(run(t, command(t, root(t), append(words, smallest(t))...)))
	r, err := report.Read(filepath.Join(out, "report.json"))
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range names {
		v := r.Versions[i]
		if v.Name != name || v.LibrarySHA256 != r.LibrarySHA256 || v.Passed == 0 || v.Failed > 0 || v.Reason != "" {
			t.Errorf("%s: %+v", name, v)
		}
	}
	if got := r.Versions[1].Have["jax"]; "jax>="+got != requirement(t, "jax") {
		t.Errorf("the oldest version was %s, the package asks for %s", got, requirement(t, "jax"))
	}
}

// smallest is the op with the fewest arguments.
func smallest(t *testing.T) string {
	t.Helper()
	return slices.MinFunc(project(t).Ops, func(a, b *opdef.Op) int {
		return cmp.Compare(len(a.Inputs)+len(a.Outputs)+len(a.Attrs), len(b.Inputs)+len(b.Outputs)+len(b.Attrs))
	}).Name
}

// project is the collection of this repository.
func project(t *testing.T) *opdef.Project {
	t.Helper()
	p, diags, err := load.Load(root(t))
	if err != nil || len(diags) > 0 {
		t.Fatal(err, diags)
	}
	return p
}

// requirement is what the adaptor says that it needs of its framework.
func requirement(t *testing.T, adaptor string) string {
	t.Helper()
	all, err := matrix.Environments(project(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		for _, r := range e.Requires {
			if e.Name == adaptor+" oldest" && strings.HasPrefix(r, adaptor+">=") {
				return r
			}
		}
	}
	t.Fatalf("no requirement of %s in %v", adaptor, all)
	return ""
}

// TestStatusMatrix compares the table of docs/status.md with the environments that there are: each line says what passed, with
// no failure, or why nothing can run. Only the lines of Pythons depend on the machine; every other environment has a line.
func TestStatusMatrix(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root(t), "docs", "status.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(text), matrix.Begin+"\n")
	table, _, ended := strings.Cut(table, matrix.End)
	_, rows, headed := strings.Cut(table, "|---|---|---|---|---|\n")
	if !found || !ended || !headed || rows == "" {
		t.Fatalf("docs/status.md lacks the table between %s and %s: run make matrix", matrix.Begin, matrix.End)
	}
	all, err := matrix.Environments(project(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		if !strings.Contains(rows, "| "+e.Name+" | ") {
			t.Errorf("docs/status.md: nothing about %q: run make matrix", e.Name)
		}
	}
	for row := range strings.Lines(rows) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(row), "|"), " | ")
		if len(cells) != 5 {
			t.Errorf("docs/status.md: %q: expected five cells", row)
			continue
		}
		name, result := strings.TrimSpace(cells[0]), strings.TrimSpace(cells[4])
		i := slices.IndexFunc(all, func(e matrix.Environment) bool { return e.Name == name })
		e := matrix.Environment{}
		if i >= 0 {
			e = all[i]
		} else if !strings.HasPrefix(name, "Python ") {
			t.Errorf("docs/status.md: there is no environment %q any more: run make matrix", name)
		}
		if !good(e, result) {
			t.Errorf("docs/status.md: %q says %q: run make matrix", name, result)
		}
	}
}

// good reports whether a result is one to show.
func good(e matrix.Environment, result string) bool {
	if e.Reason != "" {
		return result == "not run: "+e.Reason
	}
	var passed, failed, skipped int
	n, err := fmt.Sscanf(result, "%d passed, %d failed, %d skipped", &passed, &failed, &skipped)
	return err == nil && n == 3 && passed > 0 && failed == 0
}
