package e2e

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/opdef/load"
	"github.com/opcast/opcast/internal/report"
)

// TestRandomOps: the suite has nothing to say against ops that are made up and whose kernels are right, and finds each whose
// kernel is not. RANDOM_OPS is how many ops are tried, RANDOM_OPS_SEED which ones, RANDOM_OPS_FRAMEWORKS through what; each
// framework has a project of its own. RANDOM_OPS_REFUSED=1 shows the definitions that check refuses.
func TestRandomOps(t *testing.T) {
	t.Parallel()
	const most = 10 // in one project
	ops, err := strconv.Atoi(cmp.Or(os.Getenv("RANDOM_OPS"), "9"))
	if err != nil {
		t.Fatal(err)
	}
	seed, err := strconv.ParseUint(cmp.Or(os.Getenv("RANDOM_OPS_SEED"), "1"), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	frameworks := strings.Fields(cmp.Or(os.Getenv("RANDOM_OPS_FRAMEWORKS"), "numpy torch jax"))
	each := min(most, (ops+len(frameworks)-1)/len(frameworks))
	interpreter := borrowed(t)
	for i := range (ops + each - 1) / each {
		framework := frameworks[i%len(frameworks)]
		r := &randomOps{Rand: rand.New(rand.NewPCG(seed, uint64(i)))}
		dir, made := r.project(t, each, framework)
		t.Logf("project %d: %s in %s", i, framework, dir)
		for _, f := range failures(t, dir, interpreter, framework) {
			t.Errorf("a right op fails: %s %s %s %s: %s\n%s", f.Op, f.Adaptor, f.Check, f.DType, f.Reason, made[f.Op].toml())
		}
		for _, op := range made {
			write(t, filepath.Join(dir, "csrc", op.name+".cc"), []byte(op.cpp(true)))
		}
		found := map[string]bool{}
		for _, f := range failures(t, dir, interpreter, framework) {
			found[f.Op] = true
		}
		for name, op := range made {
			if !found[name] {
				t.Errorf("a wrong op passes: %s\n%s", name, op.toml())
			}
		}
	}
}

// project lays a project of so many ops out that check accepts.
func (r *randomOps) project(t *testing.T, ops int, framework string) (dir string, made map[string]*randomOp) {
	t.Helper()
	dir = t.TempDir()
	header, err := os.ReadFile("testdata/random_ops.h")
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "csrc", "random_ops.h"), header)
	write(t, filepath.Join(dir, "opcast.toml"), []byte(fmt.Sprintf("name = \"demo\"\nversion = \"0.1.0\"\nlicense = \"MIT\"\nadaptors = [%q]\n"+
		"devices = [\"cpu\"]\nsources = [\"csrc/*.cc\"]\n[[files]]\nmatch = \"csrc/*.cc\"\nflags = [\"-O0\"]\n", framework)))
	made = map[string]*randomOp{}
	for len(made) < ops {
		group := r.next()
		for _, op := range group {
			write(t, filepath.Join(dir, "opdefs", op.name+".toml"), []byte(op.toml()))
			made[op.name] = op
		}
		_, diags, err := load.Load(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, op := range group {
			if len(diags) > 0 {
				if os.Getenv("RANDOM_OPS_REFUSED") != "" {
					t.Logf("refused: %v\n%s", diags, op.toml())
				}
				_ = os.Remove(filepath.Join(dir, "opdefs", op.name+".toml"))
				delete(made, op.name)
			}
		}
	}
	for _, op := range made {
		write(t, filepath.Join(dir, "csrc", op.name+".cc"), []byte(op.cpp(false)))
	}
	return dir, made
}

// failures builds a project, runs the suite and returns what failed.
func failures(t *testing.T, dir, interpreter, framework string) (failed []report.Result) {
	t.Helper()
	mustOpcast(t, "-C", dir, "gen")
	mustOpcast(t, "-C", dir, "build", "--python", interpreter)
	_ = os.RemoveAll(filepath.Join(dir, "report"))
	code, stdout, stderr := opcast(t, "-C", dir, "test", "--python", interpreter, "--adaptor", framework, "--adaptor", "backend", "--report", filepath.Join(dir, "report"))
	r, err := report.Read(filepath.Join(dir, "report", "report.json"))
	if err != nil {
		t.Fatalf("exit code %d, %v\n%s%s", code, err, stdout, stderr)
	}
	for _, one := range r.Results {
		if one.Status.Bad() {
			failed = append(failed, one)
		}
	}
	return failed
}
