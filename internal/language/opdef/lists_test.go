package opdef_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/load"
)

const joined = `doc = "Weigh rows and join them."
kind = 0
dtypes = { T = ["f32"] }
inputs = [
  { name = "scale", type = "T[D]", doc = "Factors." },
  { name = "xs", type = "T[n, D]", list = true, doc = "Rows." },
  { name = "ws", type = "T[2*n + 1]", list = true, mutated = true, doc = "Weights of the rows." },
  { name = "zs", type = "T[*, S]", list = true, doc = "Another list." },
]
outputs = [
  { name = "y", type = "T[sum(n), D, len(xs)]", doc = "All rows." },
  { name = "us", type = "T[n]", list = "ws", doc = "Of each." },
  { name = "vs", type = "T[*]", list = "zs", doc = "Of each of the others." },
]
let.Q = "sum(n) + S"
samples = { n = [3, 5], D = [4] }
reference = "return x"
`

// loadOp is the op of a definition without mistakes.
func loadOp(t *testing.T, text string) *opdef.Op {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "opdefs"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"opcast.toml": "name = \"demo\"\nversion = \"0.1.0\"\nlicense = \"MIT\"\n", "opdefs/demo.toml": text} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p, diags, err := load.Load(dir)
	if err != nil || len(diags) > 0 {
		t.Fatalf("%v %v", err, diags)
	}
	return p.Ops[0]
}

// describe prints what differs between an op and its instances, a line for each argument and step.
func describe(op *opdef.Op) (lines []string) {
	for _, args := range [][]opdef.Arg{op.Inputs, op.Outputs} {
		for _, a := range args {
			line := a.Name + ":"
			for _, d := range a.Type.Dims {
				if d.Expr == nil {
					line += " *"
				} else {
					line += " (" + strings.Join(d.Expr.Symbols(), " ") + ")"
				}
			}
			if a.In != "" {
				line += fmt.Sprintf(", number %d of %s", a.At, a.In)
			}
			if a.Own {
				line += ", own leads"
			}
			if a.List || a.Per != "" {
				line += ", a list"
			}
			if a.Mutated {
				line += ", overwritten"
			}
			lines = append(lines, line)
		}
	}
	for _, s := range op.Steps {
		where := fmt.Sprintf("%s[%d]", op.Inputs[s.Input].Name, s.Dim)
		switch s.Kind {
		case opdef.BindBatch:
			lines = append(lines, "* = "+where)
		case opdef.CheckBatch:
			lines = append(lines, "* == "+where)
		case opdef.BindSize:
			lines = append(lines, fmt.Sprintf("%s * %s + %s = %s", s.Coef.Text, s.Symbol, s.Const.Text, where))
		case opdef.CheckSize:
			lines = append(lines, fmt.Sprintf("%s == %s", strings.Join(s.Expr.Symbols(), " "), where))
		}
	}
	return lines
}

// TestInstance: an op of lists is one of single arrays for each number of them. The arrays of lists have sizes of their own,
// or share those of the first, and each list is as long as the one with which it shares sizes.
func TestInstance(t *testing.T) {
	op := loadOp(t, joined)
	whole := describe(op)
	got := op.Instance(func(list string) int { return map[string]int{"xs": 2, "ws": 7}[list] })
	want := []string{
		"scale: (D)",
		"xs[0]: (n[0]) (D), number 0 of xs",
		"xs[1]: (n[1]) (D), number 1 of xs",
		"ws[0]: (n[0]), number 0 of ws, overwritten",
		"ws[1]: (n[1]), number 1 of ws, overwritten",
		"zs[0]: * (S), number 0 of zs, own leads",
		"y: (n) (D) (xs)",
		"us[0]: (n[0]), number 0 of us",
		"us[1]: (n[1]), number 1 of us",
		"vs[0]: *, number 0 of vs, own leads",
		"1 * D + 0 = scale[0]",
		"1 * n[0] + 0 = xs[0][0]",
		"D == xs[0][1]",
		"1 * n[1] + 0 = xs[1][0]",
		"D == xs[1][1]",
		"n[0] == ws[0][0]",
		"n[1] == ws[1][0]",
		"* = zs[0][0]",
		"1 * S + 0 = zs[0][1]",
	}
	if diff := cmp.Diff(want, describe(got)); diff != "" {
		t.Error(diff)
	}
	samples := map[string][]any{"n[0]": {int64(3), int64(5)}, "n[1]": {int64(3), int64(5)}, "D": {int64(4)}}
	if diff := cmp.Diff(samples, got.Samples); diff != "" {
		t.Error(diff)
	}
	if got.Whole() != op || op.Whole() != op || got.HasLists() || len(got.PerElement) > 0 {
		t.Error("an instance is an op without lists, and knows of which")
	}
	if diff := cmp.Diff(whole, describe(op)); diff != "" {
		t.Error("the op itself has changed:", diff)
	}
}

// TestInstanceShares: what all arrays have in common is taken from the first, and compared with that of the others.
func TestInstanceShares(t *testing.T) {
	op := loadOp(t, `doc = "Add arrays."
kind = 0
dtypes = { T = ["f32"] }
inputs = [{ name = "xs", type = "T[*, N]", list = true, doc = "Rows." }]
outputs = [{ name = "y", type = "T[*, N]", doc = "Their sum." }]
reference = "return sum(xs)"
`)
	got := op.Instance(func(string) int { return 3 })
	want := []string{
		"xs[0]: * (N), number 0 of xs", "xs[1]: * (N), number 1 of xs", "xs[2]: * (N), number 2 of xs", "y: * (N)",
		"* = xs[0][0]", "1 * N + 0 = xs[0][1]", "* == xs[1][0]", "N == xs[1][1]", "* == xs[2][0]", "N == xs[2][1]",
	}
	if diff := cmp.Diff(want, describe(got)); diff != "" {
		t.Error(diff)
	}
}

// TestNeeds: what a size of all arrays needs are the sizes of each.
func TestNeeds(t *testing.T) {
	op := loadOp(t, joined)
	instance := op.Instance(func(string) int { return 2 })
	for _, tc := range []struct{ dims, whole, instance string }{
		{"y", "D n xs", "D n[0] n[1]"},
		{"us[1]", "", "n[1]"},
	} {
		for _, side := range []struct {
			op   *opdef.Op
			want string
		}{{op, tc.whole}, {instance, tc.instance}} {
			var got []string
			for _, a := range side.op.Outputs {
				for _, d := range a.Type.Dims {
					if a.Name == tc.dims && d.Expr != nil {
						got = append(got, side.op.Needs(d.Expr)...)
					}
				}
			}
			slices.Sort(got)
			if strings.Join(got, " ") != side.want {
				t.Errorf("%s needs %v, expected %s", tc.dims, got, side.want)
			}
		}
	}
}

// TestElements: what sum(n) adds up and len(xs) counts are the sizes of all arrays.
func TestElements(t *testing.T) {
	op := loadOp(t, joined).Instance(func(string) int { return 2 })
	known := map[string]int64{"n[0]": 3, "n[1]": 4, "D": 5}
	value := func(name string) (int64, bool) { v, ok := known[name]; return v, ok }
	for name, want := range map[string][]int64{"n": {3, 4}, "xs": {0, 0}, "us": nil, "D": nil, "scale": nil} {
		if got, isList := op.Elements(name, value); isList != (want != nil) || cmp.Diff(want, got) != "" {
			t.Errorf("%s: %v %v", name, got, isList)
		}
	}
	delete(known, "n[1]")
	if got, isList := op.Elements("n", value); isList {
		t.Errorf("n: %v, although one is unknown", got)
	}
}

func TestAutocastOf(t *testing.T) {
	arg := func(name, variable string, mutated bool) opdef.Arg {
		return opdef.Arg{Name: name, Mutated: mutated, Type: opdef.Type{Var: variable}}
	}
	op := opdef.Op{Inputs: []opdef.Arg{arg("x", "T", false), arg("y", "W", true), arg("z", "W", false)}}
	for _, want := range []struct{ key, t, w string }{
		{"", "widest", "widest"}, {"lower", "lower", "widest"}, {"float32", "float32", "widest"},
	} {
		op.Autocast = want.key
		if got := op.AutocastOf("T"); got != want.t {
			t.Errorf("autocast = %q: T is cast %q, want %q", want.key, got, want.t)
		}
		if got := op.AutocastOf("W"); got != want.w { // an input that is overwritten keeps its dtype
			t.Errorf("autocast = %q: W is cast %q, want %q", want.key, got, want.w)
		}
	}
	if got := op.Sharing("W"); !slices.Equal(got, []int{1, 2}) {
		t.Errorf("inputs of W: %v, want 1 and 2", got)
	}
}
