package randomop_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/language/opdef/load"
	"github.com/opcast/opcast/internal/testkit/randomop"
)

// drawn are the definitions of so many draws that check accepts, and how many of the draws it accepted.
func drawn(t *testing.T, draws int) (texts []string, accepted int) {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("opcast.toml", "name = \"demo\"\nversion = \"0.1.0\"\nlicense = \"MIT\"\n")
	d := randomop.New(1, 1)
	for range draws {
		if err := os.RemoveAll(filepath.Join(dir, "opdefs")); err != nil {
			t.Fatal(err)
		}
		var group []string
		for _, op := range d.Next() {
			write(filepath.Join("opdefs", op.Name+".toml"), op.TOML())
			group = append(group, op.TOML())
		}
		_, diags, err := load.Load(dir)
		if err != nil {
			t.Fatal(err)
		}
		if len(diags) == 0 {
			accepted++
			texts = append(texts, group...)
		}
	}
	return texts, accepted
}

// Nearly all draws are definitions that check accepts, and together they have what doc.go says.
func TestDrawsCoverTheLanguage(t *testing.T) {
	t.Parallel()
	const draws = 1000
	texts, accepted := drawn(t, draws)
	if accepted < draws*9/10 {
		t.Errorf("check accepts %d of %d draws", accepted, draws)
	}
	all := strings.Join(texts, "\n")
	for _, word := range []string{
		"since =", "deprecated =", "deterministic =", "let.", "require =", "samples.", "order = [", "scratch = [", "zeroed = true", "parallel =", "sums =", "backward =", "no_grad = [",
		"forward =", "_backward_backward", "_forward_forward", "_backward_forward", "_forward_backward", "flops =", "workloads.", "[[kernels]]", "params.p1 =", "when =",
		"supported = true", "query_workspace = true", "scratch = false", "dtypes = {", "optional = true", "mutated = true", `stride = "any"`, `stride = "last"`,
		"sorted = true", "min = 0, max =", "lse =", "saved = true", "present_if =", `present_if = "a`, `present_if = "wanted"`, `valid = "count"`, "one_of =", `binds = "O"`, `[]", doc = "An input."`, `"c64"`, `"int[]"`, `"int[2]"`, `"str"`,
		"list = true", `list = "x0"`, "sum(n)", "len(x0)", "[*", "[...", " if ", "ceildiv(", "is_pow2(", "sum(", "len(", `sums = ["*"`, `parallel = ["*"`, "aligned(", "packs =", "f8e4m3fn", "u64", "f64", `type = "O[`, `type = "X2[`, "dtypes = { X",
	} {
		if !strings.Contains(all, word) {
			t.Errorf("no definition has %s", word)
		}
	}
}

// Equal seeds give equal ops, others give others.
func TestSeedsDecide(t *testing.T) {
	t.Parallel()
	texts := func(seed uint64) (all string) {
		d := randomop.New(seed, 3)
		for range 30 {
			for _, op := range d.Next() {
				all += op.TOML() + op.CPP()
			}
		}
		return all
	}
	if first, again := texts(1), texts(1); first != again {
		t.Error("one seed gives two ops")
	}
	if texts(1) == texts(2) {
		t.Error("two seeds give one op")
	}
}
