package oracle_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/testkit/fake"
	"github.com/opcast/opcast/conformance/internal/testkit/loadtest"
	"github.com/opcast/opcast/internal/testkit/tooltest"
)

// torchFormulas are references of a definition with the inputs x and bias, the number k and the results a and b, and what their first
// elements are, or why there are none.
var torchFormulas = map[string]string{
	"def run(x, bias, k):\n    return x * 0 + k, x * 0 + bias.sum()":                           "3 5",
	"def run(x, bias, k):\n    return {'b': x * 0 + bias.sum(), 'a': x * 0 + k}":               "3 5",
	"def run(x, k, eps=1e-6, **rest):\n    return [x * 0 + eps, x * 0 + rest['bias'].sum()]":   "1e-06 5",
	"def run(rows, bias, k):\n    return rows * 0 + k, rows * 0 + 5":                           "3 5",
	"def reference(x): return x\n\ndef run(x, N):\n    return reference(x) * 0 + N, x * 0 + N": "2 2",
	"def run(x):\n    return [x, x, x]":                                                        "ValueError: the formula gives 3 results, expected 2",
	"def run(x):\n    return {'a': x}":                                                         "ValueError: the formula gives no b",
	"def run(x):\n    return []":                                                               "ValueError: the formula gives no a",
	"def run(x, foo, bar, baz):\n    return x, x":                                              "TypeError: the formula wants baz, which is no input",
	"def run(*args):\n    return args":                                                         "TypeError: the formula takes *args: its parameters have to be named",
	"def run(x):\n    return x.to(dtype=x.dtype), x.view(dtype=__import__('torch').int16)":     "NotImplementedError: view(int16) of numbers of floating point: the formula gets them in float64",
	"def run(x):\n    raise SystemExit('no')":                                                  "SystemExit: no",
}

// A formula is called by the names of its definition, and a mistake in it is told.
func TestFormulas(t *testing.T) {
	python, ctx := fake.RealOracle(t, 10*time.Minute), context.Background()
	for source, want := range torchFormulas {
		dir := tooltest.Project(t, "f", `doc = "F."
kind = 0
inputs = [{ name = "x", type = "f32[N]", doc = "X." }, { name = "bias", type = "f32[M]", min = 1, max = 1, doc = "Bias." }]
attrs = [{ name = "k", type = "int", default = 3, doc = "K." }]
outputs = [{ name = "a", type = "f32[N]", doc = "A." }, { name = "b", type = "f32[N]", doc = "B." }]
`)
		quoted, err := json.Marshal(source)
		if err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf(`{"name": "f", "axes": {"N": {"type": "var"}, "M": {"type": "var"}}, "inputs": {"x": {"shape": ["N"], "dtype": "float32"},
"bias": {"shape": ["M"], "dtype": "float32"}, "k": {"shape": null, "dtype": "int32"}}, "outputs": {"a": {"shape": ["N"], "dtype": "float32"}, "b": {"shape": ["N"], "dtype": "float32"}}, "reference": %s}`, quoted)
		if err := os.WriteFile(filepath.Join(dir, "opdefs", "f.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := cases.New(loadtest.Load(t, dir).Ops[0], cases.Plan{Name: "formula", Sizes: map[string]int64{"N": 2, "M": 5}})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if out, err := python.Reference(ctx, c, "float64"); err != nil {
			got = strings.TrimPrefix(err.Error(), "reference of f: ")
		} else {
			got = fmt.Sprint(out[0].Values[0], out[1].Values[0])
		}
		if got != want {
			t.Errorf("%s\n got %s\nwant %s", source, got, want)
		}
	}
}
