// Package museum keeps bugs that happened in kernel libraries, rebuilt on small ops, and proves that the suite finds them.
package museum

import (
	"cmp"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/mutants"
	"github.com/opcast/opcast/conformance/internal/run"
	"github.com/opcast/opcast/internal/build"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/load"
	"github.com/opcast/opcast/internal/testkit/tooltest"
)

func TestMain(m *testing.M) { os.Exit(tooltest.Run(m)) }

var update = flag.Bool("update", false, "write docs/museum.md")

// bug is one of a kernel: what was wrong, and the issue or fix on GitHub that says so.
type bug struct {
	op, issue, sentence string
	// found is the check that found it, with its profile; empty if it was not tried.
	found string
	// device is "cuda" for a bug of a kernel for CUDA, which runs on the emulated device, and else "cpu".
	device string
}

func (b *bug) key() [2]string { return [2]string{b.issue, b.op} }

// use is how a source names a bug; part is where its sentence is broken into several strings.
var (
	use  = regexp.MustCompile(`BUG\(\s*"([\w.-]+/[\w.-]+#\d+)",\s*"((?:[^"]|"\s*")+)"\)`)
	part = regexp.MustCompile(`"\s*"`)
)

// bugs are those of the sources, in the order of their ops.
func bugs(t *testing.T) (list []bug) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("csrc", "c*", "*.c[cu]"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		op, _, _ := strings.Cut(filepath.Base(path), ".")
		found := use.FindAllStringSubmatch(string(text), -1)
		if n := strings.Count(string(text), "BUG("); n != len(found) {
			t.Errorf("%s: %d of %d bugs have an issue and a sentence", path, len(found), n)
		}
		for _, m := range found {
			list = append(list, bug{op: op, issue: m[1], sentence: part.ReplaceAllString(m[2], ""), device: filepath.Base(filepath.Dir(path))})
		}
	}
	slices.SortStableFunc(list, func(a, b bug) int { return cmp.Or(strings.Compare(a.op, b.op), strings.Compare(a.issue, b.issue)) })
	for i := 1; i < len(list); i++ {
		if list[i].issue == list[i-1].issue && list[i].op == list[i-1].op {
			t.Errorf("%s: %s is there twice", list[i].op, list[i].issue)
		}
	}
	return list
}

// environment makes a virtual environment for the museum to be linked into. It has the packages of the one of the tests, but
// PyTorch, which takes seconds of every process that imports tvm-ffi.
func environment(t *testing.T) (python string) {
	t.Helper()
	from := os.Getenv("OPCAST_TEST_PYTHON")
	if from == "" {
		t.Skip("OPCAST_TEST_PYTHON names no Python: run make test")
	}
	dir := t.TempDir()
	python = filepath.Join(dir, "bin", "python")
	output(t, from, "-m", "venv", "--without-pip", dir)
	site := func(python string) string {
		return strings.TrimSpace(output(t, python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"))
	}
	tooltest.Write(t, filepath.Join(site(python), "borrowed.pth"), site(from)+"\nimport sys; sys.modules['torch'] = None\n")
	if err := os.Symlink(filepath.Join(filepath.Dir(from), "ninja"), filepath.Join(filepath.Dir(python), "ninja")); err != nil {
		t.Fatal(err)
	}
	return python
}

// output is what a command prints that has to succeed.
func output(t *testing.T, program string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), program, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", program, args, err, out)
	}
	return string(out)
}

// gallery is a built copy of the museum.
type gallery struct {
	options run.Options
	ops     []*opdef.Op
}

// keep removes from a copy the ops that are not wanted, with their kernels. An op may be the derivative of another, whose name
// it begins with.
func keep(t *testing.T, dir, device string, wanted []string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "csrc", "c*", "*.c[cu]"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		op, _, _ := strings.Cut(filepath.Base(path), ".")
		stays := func(name string) bool { return strings.HasPrefix(op, name) || strings.HasPrefix(name, op) }
		if slices.ContainsFunc(wanted, stays) {
			continue
		}
		for _, file := range []string{path, filepath.Join(dir, "opdefs", op+".toml")} {
			if err := os.Remove(file); err != nil {
				t.Fatalf("leave %s out for %s: %v", op, device, err)
			}
		}
	}
}

// open builds a copy of the museum for a device, with some of its ops.
func open(t *testing.T, device string, ops []string) *gallery {
	t.Helper()
	python, dir := environment(t), filepath.Join(t.TempDir(), "museum")
	if err := mutants.CopyProject(".", dir); err != nil {
		t.Fatal(err)
	}
	keep(t, dir, device, ops)
	g := &gallery{options: run.Options{Scope: run.Scope{Profile: check.ProfileExtended}, Effort: run.Effort{Python: python}}}
	g.options.Device = device
	built := device
	if device != "cpu" {
		built, g.options.Driver = build.Emulated, build.DriverIn(dir, build.Emulated)
	}
	output(t, tooltest.Path(t), "-C", dir, "build", "--python", python, "--device", built)
	project, findings, err := load.Load(dir)
	if err != nil || len(findings) > 0 {
		t.Fatal(err, findings)
	}
	g.options.Project = project
	for _, op := range project.Ops {
		g.ops = append(g.ops, cases.Tested(op))
	}
	return g
}

// judged is what some profiles of the suite say of an op while a bug is on, or none: the first check that fails.
func (g *gallery) judged(t *testing.T, op, issue string, profiles []string) (c *check.Check, text string) {
	t.Helper()
	at := slices.IndexFunc(g.ops, func(o *opdef.Op) bool { return o.Name == op })
	if at < 0 {
		t.Fatalf("the museum has no op %s", op)
	}
	t.Setenv("MUSEUM_BUG", issue) // see csrc/bug.h
	pool := run.NewPool(g.options)
	defer func() { _ = pool.Close() }() // processes with bugs may end as they like
	runner, err := pool.Open(t.Context(), []string{calls.BackendName})
	if err != nil {
		t.Fatal(err)
	}
	list := run.ChecksOf(calls.BackendName, false)
	for _, profile := range profiles {
		for i := range list {
			if cmp.Or(list[i].Profile, check.ProfileCore) != profile {
				continue
			}
			if text, failed := runner.RunOnce(t.Context(), g.ops[at], runner.Env.Caller(calls.BackendName), &list[i]); failed {
				return &list[i], text
			}
		}
	}
	return nil, ""
}

// The suite finds each bug as docs/museum.md says, and nothing wrong with the kernels without them. A short run tries every
// sixteenth op with the checks that are to find its bugs; with -update, what is said of the bugs that were tried is written.
func TestMuseum(t *testing.T) {
	list := bugs(t)
	path := filepath.Join("..", "..", "docs", "museum.md")
	text, err := os.ReadFile(path)
	if err != nil && !*update {
		t.Fatal(err)
	}
	said := rows(string(text))
	for _, device := range []string{"cpu", "cuda"} {
		t.Run(device, func(t *testing.T) {
			ops := opsOf(list, device)
			g := open(t, device, ops)
			for _, op := range ops {
				t.Run(op+"/mended", func(t *testing.T) {
					if c, text := g.judged(t, op, "", profilesOn(device)); c != nil {
						t.Errorf("%s: %s", c.ID, text)
					}
				})
			}
			for i := range list {
				b := &list[i]
				if b.device != device || !slices.Contains(ops, b.op) || testing.Short() && effort(said[b.key()]) > 1 {
					continue
				}
				t.Run(b.op+"/"+b.issue, func(t *testing.T) {
					c, text := g.judged(t, b.op, b.issue, profilesOn(device))
					b.found = foundBy(c)
					t.Logf("%s: %s", b.found, text)
				})
			}
		})
	}
	if *update {
		tooltest.Write(t, path, page(list, said))
		return
	}
	agrees(t, list, string(text))
}

// profilesOn are those that are run: the last one takes minutes, and on the emulated device an hour.
func profilesOn(device string) []string {
	if testing.Short() || device != "cpu" {
		return profiles[:len(profiles)-1]
	}
	return profiles
}

// opsOf are the ops with bugs on a device; in a short run, every sixteenth.
func opsOf(list []bug, device string) (ops []string) {
	for _, b := range list {
		if b.device == device && !slices.Contains(ops, b.op) {
			ops = append(ops, b.op)
		}
	}
	if !testing.Short() {
		return ops
	}
	var some []string
	for i := 0; i < len(ops); i += 16 {
		some = append(some, ops[i])
	}
	return some
}
