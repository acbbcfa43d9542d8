package gen_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// longest is where ruff format breaks lines.
const longest = 100

// Calls of an op with many arguments are broken as ruff format breaks them: no line of generated Python is too long.
func TestLongCallsAreBroken(t *testing.T) {
	const head = `
dtypes = { T = ["f32", "f16"] }
`
	var attrs strings.Builder
	for i := range 8 {
		fmt.Fprintf(&attrs, "  { name = \"attribute_with_a_name_%d\", type = \"float\", default = 1.0, doc = \"A factor.\" },\n", i)
	}
	inputs := `  { name = "rows_of_the_matrix", type = "T[*, N]", doc = "Rows." },
  { name = "weight_of_each_column", type = "T[N]", optional = true, doc = "Scales." },
  { name = "bias_of_each_column", type = "T[N]", optional = true, doc = "Shifts." },
  { name = "mask_of_each_column", type = "T[N]", optional = true, doc = "Factors." },
`
	forward := `doc = "Scale rows."
kind = 0` + head + "inputs = [\n" + inputs + "]\nattrs = [\n" + attrs.String() + `]
outputs = [
  { name = "the_scaled_rows", type = "T[*, N]", doc = "Scaled." },
  { name = "the_sum_of_each_row", type = "f32[*]", saved = true, doc = "Sums." },
]
reference = "return rows_of_the_matrix, rows_of_the_matrix.sum(-1)"
backward = "scale_rows_backward"
`
	backward := `doc = "Gradient of scale_rows."
kind = 1` + head + "inputs = [\n" + `  { name = "grad_the_scaled_rows", type = "T[*, N]", doc = "Gradient." },
  { name = "rows_of_the_matrix", type = "T[*, N]", doc = "Rows." },
  { name = "the_sum_of_each_row", type = "f32[*]", doc = "Sums." },
` + strings.SplitN(inputs, "\n", 2)[1] + "]\nattrs = [\n" + attrs.String() + `]
outputs = [
  { name = "grad_rows_of_the_matrix", type = "T[*, N]", doc = "Gradient." },
  { name = "grad_weight_of_each_column", type = "T[N]", present_if = "weight_of_each_column", doc = "Gradient." },
  { name = "grad_bias_of_each_column", type = "T[N]", present_if = "bias_of_each_column", doc = "Gradient." },
  { name = "grad_mask_of_each_column", type = "T[N]", present_if = "mask_of_each_column", doc = "Gradient." },
]
sums = ["*"]
reference = "return grad_the_scaled_rows, None, None, None"
`
	dir := t.TempDir()
	write(t, filepath.Join(dir, "opcast.toml"), []byte(`name = "demo"
version = "0.1.0"
license = "MIT"
adaptors = ["torch", "jax", "cupy", "numpy"]
sources = ["csrc/*.cc"]
`))
	write(t, filepath.Join(dir, "csrc", "kernels.cc"), nil)
	write(t, filepath.Join(dir, "opdefs", "scale_rows.toml"), []byte(forward))
	write(t, filepath.Join(dir, "opdefs", "scale_rows_backward.toml"), []byte(backward))
	modules := 0
	for _, f := range generate(t, dir) {
		if strings.Contains(f.Path, "/_ops/") {
			modules++
		} else if !strings.HasSuffix(f.Path, "/__init__.pyi") {
			continue
		}
		for line := range strings.Lines(string(f.Content)) {
			if len(line) > longest+1 {
				t.Errorf("%s: %s", f.Path, line)
			}
		}
	}
	if modules < 8 {
		t.Errorf("only %d modules", modules)
	}
}
