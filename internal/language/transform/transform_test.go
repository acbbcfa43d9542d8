package transform_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/load"
	"github.com/opcast/opcast/internal/language/transform"
)

// project holds an op of each shape that the derivations tell apart.
var project = map[string]string{
	"opcast.toml": "name = \"demo\"\nversion = \"0.1.0\"\nlicense = \"MIT\"\n",
	"opdefs/norm.toml": `doc = "A."
kind = 0
dtypes = { T = ["f32"] }
inputs = [
  { name = "x", type = "T[*, N]", stride = "last", doc = "A." },
  { name = "weight", type = "T[N]", doc = "A." },
  { name = "ids", type = "i32[N]", optional = true, doc = "A." },
]
attrs = [{ name = "eps", type = "float", doc = "A." }, { name = "n", type = "int", doc = "A." }]
outputs = [
  { name = "y", type = "T[*, N]", doc = "A." },
  { name = "rstd", type = "f32[*]", saved = true, doc = "A." },
]
backward = "norm_backward"
reference = "return x"
`,
	"opdefs/norm_backward.toml": `doc = "A."
kind = 1
dtypes = { T = ["f32"] }
inputs = [
  { name = "grad_y", type = "T[*, N]", doc = "A." },
  { name = "x", type = "T[*, N]", doc = "A." },
  { name = "weight", type = "T[N]", doc = "A." },
  { name = "rstd", type = "f32[*]", doc = "A." },
]
attrs = [{ name = "eps", type = "float", doc = "A." }]
outputs = [{ name = "grad_weight", type = "T[N]", doc = "A." }, { name = "grad_x", type = "T[*, N]", doc = "A." }]
sums = ["*"]
reference = "return x"
`,
	"opdefs/product.toml": `doc = "A."
kind = 2
dtypes = { T = ["f32"] }
inputs = [
  { name = "a", type = "T[*, M, K]", stride = "any", doc = "A." },
  { name = "b", type = "T[N, K]", doc = "A." },
  { name = "bias", type = "T[N]", optional = true, doc = "A." },
]
outputs = [{ name = "c", type = "T[*, M, N]", doc = "A." }]
parallel = ["M", "N"]
sums = ["K"]
reference = "return a"
`,
	"opdefs/update.toml": `doc = "A."
kind = 3
dtypes = { T = ["f32"] }
inputs = [
  { name = "x", type = "T[*, 2*D]", mutated = true, stride = "last", doc = "A." },
  { name = "step", type = "T[*, D]", doc = "A." },
  { name = "limit", type = "T[3]", doc = "A." },
]
reference = "return x"
`,
	"opdefs/scaled.toml": `doc = "A."
kind = 4
dtypes = { T = ["f32"] }
inputs = [
  { name = "x", type = "T[..., N]", doc = "A." },
  { name = "y", type = "T[...]", doc = "A." },
  { name = "weight", type = "T[N]", doc = "A." },
]
outputs = [{ name = "z", type = "T[..., N]", doc = "A." }]
reference = "return x"
backward = "scaled_backward"
no_grad = ["y", "weight"]
`,
	"opdefs/scaled_backward.toml": `doc = "A."
kind = 5
dtypes = { T = ["f32"] }
inputs = [{ name = "grad_z", type = "T[..., N]", doc = "A." }, { name = "weight", type = "T[N]", doc = "A." }]
outputs = [{ name = "grad_x", type = "T[..., N]", doc = "A." }]
reference = "return grad_z"
`,
}

func loadAll(t *testing.T) map[string]*opdef.Op {
	t.Helper()
	dir := t.TempDir()
	for name, text := range project {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p, diags, err := load.Load(dir)
	if err != nil || len(diags) > 0 {
		t.Fatal(err, diags)
	}
	ops := map[string]*opdef.Op{}
	for _, op := range p.Ops {
		ops[op.Name] = op
	}
	return ops
}

func TestDerived(t *testing.T) {
	ops := loadAll(t)
	for name, want := range map[string]struct {
		merges        []transform.Merge
		loops, copies []string
		factors       []transform.Factor
	}{
		"norm": {
			merges: []transform.Merge{{Dim: "*", Inputs: []string{"x"}}},
			loops:  []string{"weight", "ids"},
			copies: []string{"x", "weight", "ids"},
			factors: []transform.Factor{
				{Dim: "*", Role: transform.Sliced}, {Dim: "N", Role: transform.Gathered},
			},
		},
		"norm_backward": {
			loops:  []string{"grad_y", "x", "weight", "rstd"},
			copies: []string{"grad_y", "x", "weight", "rstd"},
			factors: []transform.Factor{
				{Dim: "*", Role: transform.Summed, Partial: []string{"grad_weight"}}, {Dim: "N", Role: transform.Gathered},
			},
		},
		"product": {
			merges: []transform.Merge{
				{Dim: "*", Inputs: []string{"a"}}, {Dim: "M", Inputs: []string{"a"}}, {Dim: "N", Inputs: []string{"b", "bias"}},
			},
			copies: []string{"b", "bias"},
			factors: []transform.Factor{
				{Dim: "*", Role: transform.Sliced}, {Dim: "M", Role: transform.Sliced},
				{Dim: "K", Role: transform.Summed, Partial: []string{"c"}}, {Dim: "N", Role: transform.Sliced},
			},
		},
		"update": {
			merges: []transform.Merge{{Dim: "*", Inputs: []string{"x", "step"}}},
			loops:  []string{"limit"},
			copies: []string{"step", "limit"},
			factors: []transform.Factor{
				{Dim: "*", Role: transform.Sliced}, {Dim: "2*D", Role: transform.Gathered}, {Dim: "D", Role: transform.Gathered},
			},
		},
		"scaled": {
			merges: []transform.Merge{{Dim: "...", Inputs: []string{"x", "y"}}},
			loops:  []string{"weight"},
			copies: []string{"x", "y", "weight"},
			factors: []transform.Factor{
				{Dim: "...", Role: transform.Sliced}, {Dim: "N", Role: transform.Gathered},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			op := ops[name]
			var copies []string
			for _, a := range transform.Copies(op) {
				copies = append(copies, a.Name)
			}
			got := []any{transform.Merges(op), transform.Loops(op), copies, transform.Factors(op)}
			if diff := cmp.Diff([]any{want.merges, want.loops, want.copies, want.factors}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestFacts(t *testing.T) {
	ops := loadAll(t)
	for name, want := range map[string][]string{
		"norm": {
			"`norm_backward`, with respect to `x` and `weight`, not to `ids`; `rstd` saved for it; of first order, in reverse mode",
			"merged over `x`; a loop over slices when `weight` or `ids` is mapped",
			"along `*`; `N` gathered",
			"along `*`",
			"`x` and `weight` cast to the widest of their dtypes",
			"`weight` and `ids` when not contiguous; `x` when the last dimension is not contiguous",
		},
		"norm_backward": {
			"none: it is the gradient of `norm`, and gradients are of first order",
			"a loop over slices",
			"along `*`; `grad_weight` summed over `*`; `N` gathered",
			"`grad_y`, `x` and `weight` cast to the widest of their dtypes",
			"`grad_y`, `x`, `weight` and `rstd` when not contiguous",
		},
		"product": {
			"none",
			"merged over `a`, or over `b` and `bias`; else a loop over slices",
			"along `*`, `M`, `K` and `N`; `c` summed over `K`",
			"along `*`, `M` and `N`",
			"`a`, `b` and `bias` cast to the widest of their dtypes",
			"`b` and `bias` when not contiguous",
		},
		"update": {
			"none",
			"merged over `x` and `step`; a loop over slices when `limit` is mapped; `x` must be mapped",
			"along `*`; `2*D` and `D` gathered",
			"along `*`",
			"`x` is overwritten and returned; apart from every other argument; new arrays in JAX, in the memory of donated ones",
			"`step` and `limit` cast to the widest dtype of `x`, `step` and `limit`",
			"`step` and `limit` when not contiguous",
		},
		"scaled": {
			"`scaled_backward`, with respect to `x`, not to `y` and `weight`; summed along dims to which an input was broadcast; of first order, in reverse mode",
			"merged over `x` and `y`; a loop over slices when `weight` is mapped",
			"along `...`; `N` gathered",
			"along `...`",
			"`x`, `y` and `weight` cast to the widest of their dtypes",
			"`x`, `y` and `weight` when not contiguous",
		},
	} {
		var got []string
		for _, f := range transform.Facts(ops[name]) {
			got = append(got, f.Text)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestMerged(t *testing.T) {
	product := loadAll(t)["product"]
	for _, test := range []struct {
		mapped []string
		want   bool
	}{
		{nil, true},
		{[]string{"a"}, true},
		{[]string{"b", "bias"}, true},
		{[]string{"a", "b"}, false},
		{[]string{"a", "bias"}, false},
	} {
		if got := transform.Merged(product, test.mapped); got != test.want {
			t.Errorf("%v: got %v", test.mapped, got)
		}
	}
}

func TestGradient(t *testing.T) {
	ops := loadAll(t)
	got := transform.GradientOf(ops["norm"])
	if got == nil || got.Op != ops["norm_backward"] || got.Op.GradientOf != ops["norm"] {
		t.Fatalf("got %+v", got)
	}
	operands := []transform.Operand{
		{Name: "grad_y", From: transform.FromGrad, Index: 0},
		{Name: "x", From: transform.FromInput, Index: 0},
		{Name: "weight", From: transform.FromInput, Index: 1},
		{Name: "rstd", From: transform.FromOutput, Index: 1},
	}
	if diff := cmp.Diff(operands, got.Operands); diff != "" {
		t.Error(diff)
	}
	if !slices.Equal(got.Attrs, []string{"eps"}) || !slices.Equal(got.Grads, []int{1, 0, -1}) {
		t.Errorf("got %v, %v", got.Attrs, got.Grads)
	}
	if diff := cmp.Diff([][]string{{"x", "weight"}, {"ids"}}, [][]string{transform.Differentiable(ops["norm"]), transform.NotDifferentiable(ops["norm"])}); diff != "" {
		t.Error(diff)
	}
	if transform.GradientOf(ops["product"]) != nil || transform.GradientOf(ops["norm_backward"]) != nil {
		t.Error("an op without backward has a gradient")
	}
}

func TestResults(t *testing.T) {
	ops := loadAll(t)
	names := func(args []opdef.Arg) (out []string) {
		for _, a := range args {
			out = append(out, a.Name)
		}
		return out
	}
	got := [][]string{names(ops["norm"].Results()), names(ops["norm"].Saved()), names(ops["update"].Results()), names(ops["norm"].Written())}
	if diff := cmp.Diff([][]string{{"y"}, {"rstd"}, {"x"}, {"y", "rstd"}}, got); diff != "" {
		t.Error(diff)
	}
	dims := [][]string{ops["norm"].ParallelDims(), ops["norm_backward"].ParallelDims(), ops["product"].ParallelDims()}
	if diff := cmp.Diff([][]string{{"*"}, nil, {"*", "M", "N"}}, dims); diff != "" {
		t.Error(diff)
	}
}
