package references_test

import (
	"os"
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/build/references"
	"github.com/opcast/opcast/internal/language/opdef/load"
	"github.com/opcast/opcast/internal/testkit/tooltest"
)

// python is the interpreter of the environment with NumPy.
func python(t *testing.T) string {
	t.Helper()
	path := os.Getenv("OPCAST_TEST_PYTHON")
	if path == "" {
		t.Skip("OPCAST_TEST_PYTHON names no Python: run make test")
	}
	return path
}

// What NumPy lacks is found where NumPy is installed; what a reference calls xp itself is not looked at.
func TestFunctionsOfNumPy(t *testing.T) {
	interpreter := python(t)
	for _, tt := range []struct{ reference, want string }{
		{"return xp.tanh(x)", ""},
		{"return xp.tanhh(x)", `opdefs/a.toml:6:24: error: the reference: xp has no tanhh [E038]; hint: did you mean "tanh"?`},
		{"return xp.linalg.inw(x)", `opdefs/a.toml:6:31: error: the reference: xp.linalg has no inw [E038]; hint: did you mean "inv"?`},
		{"return np.float64(1).nothing + xp.float32.nothing", ""},
		{"xp = x; return xp.nothing", ""},
		{"import math; return xp.exp(x) + math.nothing", ""},
	} {
		p, findings, err := load.Load(tooltest.Project(t, "a", `doc = "A."
kind = 0
dtypes = { T = ["f32"] }
inputs = [{ name = "x", type = "T[N]", doc = "A." }]
outputs = [{ name = "y", type = "T[N]", doc = "A." }]
reference = "`+tt.reference+`"
`))
		if err != nil || len(findings) > 0 {
			t.Fatal(err, findings)
		}
		diags, err := references.Check(t.Context(), interpreter, p)
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		if err := diags.Print(&out); err != nil {
			t.Fatal(err)
		}
		got := strings.ReplaceAll(strings.TrimSuffix(strings.TrimSpace(out.String()), "\n1 mistake"), "\n  hint", "; hint")
		if got != tt.want {
			t.Errorf("%s:\ngot  %s\nwant %s", tt.reference, got, tt.want)
		}
	}
}
