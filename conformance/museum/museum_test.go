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

// use is a bug of a source, whose sentence may be in several parts.
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

// keepKernelsOf removes the kernels of a copy that are for other devices, and the ops without others.
func keepKernelsOf(t *testing.T, dir, device string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "csrc", "c*", "*.c[cu]"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if filepath.Base(filepath.Dir(path)) == device {
			continue
		}
		op, _, _ := strings.Cut(filepath.Base(path), ".")
		if kernels, _ := filepath.Glob(filepath.Join(dir, "csrc", device, op+".*")); len(kernels) == 0 {
			err = os.Remove(filepath.Join(dir, "opdefs", op+".toml"))
		}
		if err := cmp.Or(err, os.Remove(path)); err != nil {
			t.Fatal(err)
		}
	}
}

// open builds a copy of the museum for a device.
func open(t *testing.T, device string) *gallery {
	t.Helper()
	python, dir := environment(t), filepath.Join(t.TempDir(), "museum")
	if err := mutants.CopyProject(".", dir); err != nil {
		t.Fatal(err)
	}
	keepKernelsOf(t, dir, device)
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

// judged is what the suite says of an op while a bug is on, or none: the first check that fails, in the order of the profiles.
func (g *gallery) judged(t *testing.T, op, issue string) (c *check.Check, text string) {
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
	for _, profile := range []string{check.ProfileFast, check.ProfileCore, check.ProfileExtended} {
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
// eighth bug; with -update, what is said of the bugs that were tried is written.
func TestMuseum(t *testing.T) {
	list := bugs(t)
	for _, device := range []string{"cpu", "cuda"} {
		t.Run(device, func(t *testing.T) {
			g := open(t, device)
			mended := map[string]bool{}
			for i := range list {
				b := &list[i]
				if b.device != device || testing.Short() && i%8 != 0 {
					continue
				}
				if !mended[b.op] {
					mended[b.op] = true
					t.Run(b.op+"/mended", func(t *testing.T) {
						if c, text := g.judged(t, b.op, ""); c != nil {
							t.Errorf("%s: %s", c.ID, text)
						}
					})
				}
				t.Run(b.op+"/"+b.issue, func(t *testing.T) {
					c, text := g.judged(t, b.op, b.issue)
					b.found = foundBy(c)
					t.Logf("%s: %s", b.found, text)
				})
			}
		})
	}
	path := filepath.Join("..", "..", "docs", "museum.md")
	text, err := os.ReadFile(path)
	if *update {
		tooltest.Write(t, path, page(list, string(text)))
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	agrees(t, list, string(text))
}
