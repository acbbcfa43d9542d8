package e2e

import (
	"cmp"
	"encoding/json"
	"slices"
	"testing"

	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/expr"
)

// call is one call of an op on small arrays.
type call struct {
	Op     string         `json:"op"`
	DTypes []string       `json:"dtypes"`
	Inputs []input        `json:"inputs"`
	Attrs  map[string]any `json:"attrs"`
}

type input struct {
	Shape []int64 `json:"shape"`
	DType string  `json:"dtype"`
	// Least and Most bound the contents, which may have to rise.
	Least  *float64 `json:"least"`
	Most   *float64 `json:"most"`
	Sorted bool     `json:"sorted"`
}

// sizes gives every symbol a small size of its own, unless it has one already.
type sizes map[string]int64

func (s sizes) Int(name string) (int64, bool) {
	if s[name] == 0 {
		s[name] = int64(len(s) + 2)
	}
	return s[name], true
}

func (s sizes) List(string) ([]int64, bool) { return nil, false }

func (s sizes) Float(string) (float64, bool) { return 0, false }

func (s sizes) Word(string) (string, bool) { return "", false }

// calls are one call per op and dtype, as JSON.
func calls(t *testing.T) string {
	t.Helper()
	var list []call
	for _, op := range project(t).Ops {
		if !isPlain(op) {
			continue
		}
		rounds := 1
		for _, v := range op.DTypes {
			rounds = max(rounds, len(v.OneOf))
		}
		for i := range rounds {
			list = append(list, newCall(t, op, i))
		}
	}
	text, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// isPlain says whether arrays of any sizes and contents in their ranges make a call: no lists, conditions, or contents with
// structure, and no dims that an attribute chooses.
func isPlain(op *opdef.Op) bool {
	if op.HasLists() || len(op.Requires) > 0 || op.Defines("samples") {
		return false
	}
	for _, a := range op.Inputs {
		if slices.ContainsFunc(a.Type.Dims, func(d opdef.Dim) bool { return d.Expr != nil && d.Expr.Op == expr.OpIf }) {
			return false
		}
	}
	return true
}

// newCall chooses the i-th dtype of every variable, in rotation.
func newCall(t *testing.T, op *opdef.Op, i int) call {
	t.Helper()
	c := call{Op: op.Name, Attrs: map[string]any{}}
	chosen := map[string]string{}
	for _, v := range op.DTypes {
		chosen[v.Name] = long(v.OneOf[i%len(v.OneOf)])
		c.DTypes = append(c.DTypes, chosen[v.Name])
	}
	known := preferred(op)
	for _, a := range op.Inputs {
		in := input{Shape: shape(t, a.Type, known), DType: cmp.Or(chosen[a.Type.Var], long(a.Type.DType)), Sorted: a.Sorted}
		in.Least, in.Most = bound(t, a.Min, known), bound(t, a.Max, known)
		c.Inputs = append(c.Inputs, in)
	}
	for _, a := range op.Attrs {
		switch {
		case a.Type == "dtype":
			c.Attrs[a.Name] = chosen[a.Binds]
		case a.HasDefault:
		case len(a.OneOf) > 0:
			c.Attrs[a.Name] = a.OneOf[0]
		default:
			c.Attrs[a.Name] = cmp.Or(a.Min, any(1))
		}
	}
	return c
}

// preferred are the sizes and integer attrs about which the definition says something.
func preferred(op *opdef.Op) sizes {
	known := sizes{}
	for name, values := range op.Samples {
		if n, ok := values[0].(int64); ok {
			known[name] = n
		}
	}
	for _, a := range op.Attrs {
		if n, ok := a.Default.(int64); ok && a.Len == 0 {
			known[a.Name] = n
		}
	}
	return known
}

func bound(t *testing.T, e *expr.Expr, known sizes) *float64 {
	t.Helper()
	if e == nil {
		return nil
	}
	v, err := e.EvalFloat(known)
	if err != nil {
		t.Fatal(err)
	}
	return &v
}

func shape(t *testing.T, typ opdef.Type, known sizes) []int64 {
	t.Helper()
	dims := []int64{}
	for _, d := range typ.Dims {
		if d.Star || d.Ellipsis {
			dims = append(dims, 2, 3)
			continue
		}
		n, err := d.Expr.Eval(known)
		if err != nil {
			t.Fatal(err)
		}
		dims = append(dims, n)
	}
	return dims
}

// long is the NumPy name of a dtype.
func long(short string) string {
	d, _ := dtype.Lookup(short)
	return d.Long
}
