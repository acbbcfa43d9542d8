package run

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/checks/definitions"
	"github.com/opcast/opcast/conformance/internal/testkit/fake"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/load"
)

// written loads one definition: what it says about inputs and attributes.
func written(t *testing.T, inputs, attrs, rest string) *opdef.Op {
	t.Helper()
	return writtenAs(t, inputs, attrs, rest+"\nreference = \"return 1\"\n")
}

// writtenAs is written for a text that ends with kernels.
func writtenAs(t *testing.T, inputs, attrs, rest string) *opdef.Op {
	t.Helper()
	dir := t.TempDir()
	text := fmt.Sprintf("doc = \"Made up.\"\nkind = 0\ninputs = [\n%s]\nattrs = [\n%s]\n%s", inputs, attrs, rest)
	if err := os.WriteFile(filepath.Join(dir, "made.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	project, diags, err := load.Folder(dir)
	if err != nil || len(diags) > 0 {
		t.Fatal(err, diags)
	}
	return project.Ops[0]
}

// A rule about a dim may be void for the default of an attribute, or fit every size with it. An invalid call breaks it all the
// same, with other attributes. Where no attributes make it breakable, that is a note and no failure.
func TestRulesOfChosenDims(t *testing.T) {
	const (
		x    = `  { name = "x", type = "f32[%s]", doc = "An input." },` + "\n"
		gate = `  { name = "gate", type = "bool", default = true, doc = "A choice." },` + "\n"
		n    = `  { name = "n", type = "int", default = 1, min = 1, max = 9, doc = "A number." },` + "\n"
		one  = `  { name = "n", type = "int", default = 1, min = 1, max = 1, doc = "A number." },` + "\n"
		y    = `outputs = [{ name = "y", type = "f32[1]", doc = "A result." }]`
	)
	for name, c := range map[string]struct{ dims, attrs, rest, note string }{
		"a multiple without the gate":     {"(2 if not gate else 1)*A", gate, y, ""},
		"a multiple with the gate":        {"(2 if gate else 1)*A", gate, y, ""},
		"a sum for large numbers":         {"A + 3 if n > 4 else A", n, y, ""},
		"a fixed size without the gate":   {"A, 7 if not gate else A", gate, y, ""},
		"a condition in a named size":     {"(k if n > 7 else 1)*A", n, "let.k = \"2 if n == 9 else 1\"\n" + y, ""},
		"two conditions":                  {"(2 if not gate else 1)*A, (3 if not gate and n == 2 else 1)*B", gate + n, y, ""},
		"a multiple that is always one":   {"(2 if n > 1 else 1)*A", one, y, "no call was found that breaks (2 if n > 1 else 1)*A"},
		"beside a condition about dtypes": {"(2 if not gate else 1)*A", gate, "dtypes.T = [\"f16\", \"bf16\"]\nrequire = [\"T != f16 or A % 2 == 0\"]\n" + strings.ReplaceAll(y, "f32", "T"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			inputs := fmt.Sprintf(x, c.dims)
			if strings.Contains(c.rest, "dtypes.T") {
				inputs += `  { name = "z", type = "T[1]", doc = "An input." },` + "\n"
			}
			op := written(t, inputs, c.attrs, c.rest)
			one := &check.T{Ctx: t.Context(), Env: &check.Environment{Project: fake.Toy(t), Device: "cpu"}, Op: op, Caller: calls.Definition{}}
			if err := definitions.CheckFaultCoverage(one); err != nil || len(one.CurrentRow().Failures) > 0 {
				t.Errorf("%v %v", err, one.CurrentRow().Failures)
			}
			if got := one.CurrentRow().Note; got != c.note {
				t.Errorf("noted %q, want %q", got, c.note)
			}
		})
	}
}
