package author

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opcast/opcast/conformance"
	"github.com/opcast/opcast/internal/language/opdef/load"
)

const limited = `doc = "Copy x, limited."
kind = 0
dtypes = { T = ["f32", "f16"] }
inputs = [
  { name = "x", type = "T[N]", doc = "Any values." },
  { name = "bias", type = "T[N]", optional = true, doc = "Added." },
]
attrs = [
  { name = "scale", type = "float", doc = "Factor." },
  { name = "power", type = "int", default = 1, doc = "Exponent." },
  { name = "cap", type = "float", optional = true, doc = "Limit." },
  { name = "mode", type = "str", one_of = ["none", "relu"], default = "relu", doc = "What happens last." },
]
outputs = [{ name = "y", type = "T[N]", doc = "The values." }]
reference = "return x"

[workloads]
with = { N = 8, T = "f16", scale = 2.0, power = 3, cap = 1.5, mode = "relu" }
without = { N = 8, T = "f16", scale = 2.0, bias = false }
`

// Words change what the workload says, and can take it back.
func TestParseRequest(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"opcast.toml": "name = \"demo\"\nversion = \"0.1.0\"\nlicense = \"MIT\"\n", "opdefs/limited.toml": limited} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p, diags, err := load.Load(dir)
	if err != nil || len(diags) > 0 {
		t.Fatal(err, diags)
	}
	eight := map[string][]int64{"x": {8}, "bias": {8}}
	half := map[string]string{"x": "f16", "bias": "f16"}
	for words, test := range map[string]struct {
		workload string
		want     conformance.TrialRequest
		err      string
	}{
		"": {"with", conformance.TrialRequest{Shapes: eight, DTypes: half,
			Attrs: map[string]any{"scale": 2.0, "power": int64(3), "cap": 1.5, "mode": "relu"}}, ""},
		"power=none cap=none mode=none": {"with", conformance.TrialRequest{Shapes: eight, DTypes: half,
			Attrs: map[string]any{"scale": 2.0, "mode": "none"}}, ""},
		"bias=none": {"with", conformance.TrialRequest{Shapes: map[string][]int64{"x": {8}}, DTypes: map[string]string{"x": "f16"}, Without: []string{"bias"},
			Attrs: map[string]any{"scale": 2.0, "power": int64(3), "cap": 1.5, "mode": "relu"}}, ""},
		"bias=8": {"without", conformance.TrialRequest{Shapes: eight, DTypes: map[string]string{"x": "f16"}, Without: []string{},
			Attrs: map[string]any{"scale": 2.0, "power": int64(1), "mode": "relu"}}, ""},
		"scale=none": {"with", conformance.TrialRequest{}, "scale: expected a value of type float, got none: it has no default"},
		"power=two":  {"with", conformance.TrialRequest{}, `power: expected a value of type int, got "two"`},
	} {
		got, err := parseRequest(p.Ops[0], strings.Fields(words), runFlags{workload: test.workload})
		if test.err != "" {
			if err == nil || err.Error() != test.err {
				t.Errorf("%q: got %v, want %s", words, err, test.err)
			}
			continue
		}
		if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
			t.Errorf("%q: %v (-want +got):\n%s", words, err, diff)
		}
	}
}
