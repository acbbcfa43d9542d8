package e2e

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/language/opdef/load"
	"github.com/opcast/opcast/internal/results/report"
	"github.com/opcast/opcast/internal/testkit/randomop"
	"github.com/opcast/opcast/internal/testkit/tooltest"
)

// TestRandomOps: the suite has nothing to say against ops that are made up and whose kernels are right, and finds each whose
// kernel is not. RANDOM_OPS is how many ops are tried, RANDOM_OPS_SEED which ones, RANDOM_OPS_FRAMEWORKS through what; each
// framework has a project of its own. RANDOM_OPS_REFUSED=1 shows the definitions that check refuses, and RANDOM_OPS_KEEP
// names a folder in which projects with findings stay.
func TestRandomOps(t *testing.T) {
	t.Parallel()
	const most = 20 // in one project
	count, in := "3", "numpy torch jax"
	if testing.Short() {
		count, in = "1", "numpy"
	}
	ops, err := strconv.Atoi(cmp.Or(os.Getenv("RANDOM_OPS"), count))
	if err != nil {
		t.Fatal(err)
	}
	seed, err := strconv.ParseUint(cmp.Or(os.Getenv("RANDOM_OPS_SEED"), "1"), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	frameworks := strings.Fields(cmp.Or(os.Getenv("RANDOM_OPS_FRAMEWORKS"), in))
	each := min(most, (ops+len(frameworks)-1)/len(frameworks))
	tried, blamed, found := 0, 0, 0
	folders := map[string]string{}
	for i := 0; tried < ops; i++ {
		p := &randomProject{framework: frameworks[i%len(frameworks)], interpreter: borrowed(t), ops: map[string]*randomop.Op{}}
		if p.framework != "torch" {
			p.interpreter = withoutTorch(t)
		}
		if folders[p.framework] == "" {
			folders[p.framework] = t.TempDir()
		}
		p.dir = folders[p.framework]
		p.draw(t, randomop.New(seed, uint64(i)), min(each, ops-tried))
		right, wrong := p.judge(t)
		tried, blamed, found = tried+len(p.ops), blamed+right, found+wrong
		t.Logf("project %d of seed %d, in %s: %d ops so far, %d false verdicts, %d faults found", i, seed, p.framework, tried, blamed, found)
	}
}

// randomProject is a project of ops that are made up. What is built stays in its folder when the next one is drawn there.
type randomProject struct {
	dir, framework, interpreter string
	ops                         map[string]*randomop.Op
}

// draw lays out so many ops, or a few more, that check accepts.
func (p *randomProject) draw(t *testing.T, d *randomop.Drawer, ops int) {
	t.Helper()
	for _, name := range []string{"opdefs", "csrc", "backend", "adaptors", "docs"} {
		_ = os.RemoveAll(filepath.Join(p.dir, name))
	}
	if err := os.CopyFS(filepath.Join(p.dir, "csrc"), randomop.Headers); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(p.dir, "opcast.toml"), []byte(fmt.Sprintf("name = \"demo\"\nversion = \"0.1.0\"\nlicense = \"MIT\"\nadaptors = [%q]\n"+
		"devices = [\"cpu\"]\nsources = [\"csrc/*.cc\"]\n[[files]]\nmatch = \"csrc/*.cc\"\nflags = [\"-O1\"]\n", p.framework)))
	for len(p.ops) < ops {
		group := d.Next()
		file := func(op *randomop.Op) string { return filepath.Join(p.dir, "opdefs", op.Name+".toml") }
		for _, op := range group {
			write(t, file(op), []byte(op.TOML()))
		}
		_, diags, err := load.Load(p.dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, op := range group {
			if len(diags) == 0 {
				p.ops[op.Name] = op
				write(t, filepath.Join(p.dir, "csrc", op.Name+".cc"), []byte(op.CPP()))
				continue
			}
			if os.Getenv("RANDOM_OPS_REFUSED") != "" {
				t.Logf("refused: %v\n%s", diags, op.TOML())
			}
			_ = os.Remove(file(op))
		}
	}
}

// judge runs the suite against the right ops, and then against the spoilt ones: first the checks that take little time, then
// all of them for the ops that these let pass. It counts the right ops that are blamed and the faults that are found.
func (p *randomProject) judge(t *testing.T) (blamed, found int) {
	t.Helper()
	mustOpcast(t, "-C", p.dir, "gen")
	mustOpcast(t, "-C", p.dir, "build", "--python", p.interpreter)
	wrong := map[string]bool{}
	byNumber := []string{"--adaptor", "op_call", "--only", only(t, "mixed")} // what it passes is what op_call is about
	for _, f := range append(p.failures(t, ""), p.failures(t, "", byNumber...)...) {
		wrong[f.Op] = true
		t.Errorf("a right op fails: %s %s %s %s: %s", f.Op, f.Adaptor, f.Check, f.DType, f.Reason)
	}
	for name := range wrong {
		p.show(t, name)
	}
	seen := map[string]bool{}
	for _, f := range p.failures(t, "1", "--fast") {
		seen[f.Op] = true
	}
	if missed := p.without(seen); len(missed) > 0 {
		for _, f := range p.failures(t, "1", missed...) {
			seen[f.Op] = true
		}
	}
	for _, name := range p.without(seen) {
		t.Errorf("a wrong op passes: %s", name)
		p.show(t, name)
	}
	return len(wrong), len(p.without(map[string]bool{})) - len(p.without(seen))
}

// without are the ops that write something and are not among those seen.
func (p *randomProject) without(seen map[string]bool) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(p.ops)) {
		if !seen[name] && p.ops[name].Writes() {
			names = append(names, name)
		}
	}
	return names
}

// show prints an op, and keeps the project if that is wanted.
func (p *randomProject) show(t *testing.T, name string) {
	t.Helper()
	t.Logf("%s", p.ops[name].TOML())
	if keep := os.Getenv("RANDOM_OPS_KEEP"); keep != "" {
		folder, err := os.MkdirTemp(keep, name+"-")
		if err == nil {
			err = os.CopyFS(folder, os.DirFS(p.dir))
		}
		t.Log(folder, err)
	}
}

// failures runs the suite, with or without the faults, and returns what failed.
func (p *randomProject) failures(t *testing.T, fault string, args ...string) (failed []report.Result) {
	t.Helper()
	folder := filepath.Join(p.dir, "report")
	_ = os.RemoveAll(folder)
	words := []string{tooltest.Path(t), "-C", p.dir, "test", "--python", p.interpreter, "--adaptor", p.framework, "--adaptor", "backend", "--report", folder}
	cmd := command(t, "", append(words, args...)...)
	cmd.Env = append(os.Environ(), randomop.FaultVariable+"="+fault)
	out, _ := cmd.CombinedOutput()
	r, err := report.Read(filepath.Join(folder, "report.json"))
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, one := range r.Results {
		if one.Status.Bad() {
			failed = append(failed, one)
		}
	}
	return failed
}
