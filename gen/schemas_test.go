package gen_test

import (
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/testkit/tooltest"
)

// torch.compile has an argument called mode of its own where an op writes to arrays.
func TestSchemasWithMode(t *testing.T) {
	t.Parallel()
	definition := `doc = "A."
kind = 0
inputs = [{ name = "x", type = "f32[*]", doc = "A." }]
attrs = [{ name = "mode", type = "int", doc = "A." }]
outputs = [{ name = "y", type = "f32[*]", doc = "A." }]
reference = "return x"
`
	overwriting := strings.Replace(definition, `"f32[*]"`, `"f32[*]", mutated = true`, 1)
	for text, schemas := range map[string][]string{
		definition:  {"(Tensor x, int mode) -> Tensor", "(Tensor x, int mode_, Tensor(o0!) y) -> ()"},
		overwriting: {"(Tensor(a0!) x, int mode_) -> Tensor"},
	} {
		files := byPath(generate(t, tooltest.Project(t, "shift", text)))
		for _, schema := range schemas {
			if !strings.Contains(string(files["adaptors/torch/csrc/gen/handlers.gen.cc"]), `"`+schema+`"`) {
				t.Errorf("no schema %s", schema)
			}
		}
	}
}
