package e2e

import (
	"cmp"
	"encoding/json"
	"testing"

	"github.com/opcast/opcast/internal/dtype"
	"github.com/opcast/opcast/internal/opdef"
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
}

// sizes gives every symbol a small size of its own.
type sizes map[string]int64

func (s sizes) Int(name string) (int64, bool) {
	if s[name] == 0 {
		s[name] = int64(len(s) + 2)
	}
	return s[name], true
}

func (s sizes) List(string) ([]int64, bool) { return nil, false }

// calls are one call per op and dtype, as JSON.
func calls(t *testing.T) string {
	t.Helper()
	project, findings, err := opdef.Load(root(t))
	if err != nil || len(findings) > 0 {
		t.Fatal(findings, err)
	}
	var list []call
	for _, op := range project.Ops {
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

// newCall chooses the i-th dtype of every variable, in rotation.
func newCall(t *testing.T, op *opdef.Op, i int) call {
	t.Helper()
	c := call{Op: op.Name, Attrs: map[string]any{}}
	chosen := map[string]string{}
	for _, v := range op.DTypes {
		chosen[v.Name] = long(v.OneOf[i%len(v.OneOf)])
		c.DTypes = append(c.DTypes, chosen[v.Name])
	}
	known := sizes{}
	for _, a := range op.Inputs {
		c.Inputs = append(c.Inputs, input{shape(t, a.Type, known), cmp.Or(chosen[a.Type.Var], long(a.Type.DType))})
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
