package conformance

import (
	"slices"

	"github.com/opcast/opcast/internal/ndarray"
	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/rule"
)

// jacobianPlan is small: its gradient is computed once for each element of a result.
func jacobianPlan(op *opdef.Op, d dtypes, without []string) plan {
	p := plan{name: "jacobian", dtypes: d, batch: []int64{2}, sizes: map[string]int64{}, without: without}
	for _, s := range symbols(op) {
		p.sizes[s] = 3
	}
	return p
}

// checkJacobian compares every row of the Jacobian of the first result with a gradient.
func checkJacobian(t *T) error {
	d, err := t.firstDTypes()
	if err != nil {
		return err
	}
	for _, p := range presencePlans(t.Op, d) {
		c, err := t.newCase(jacobianPlan(t.Op, d, p.without))
		if err != nil {
			return skip("no small sizes satisfy the definition")
		}
		if err := proceed(t.jacobianOf(c)); err != nil {
			return err
		}
	}
	return nil
}

func (t *T) jacobianOf(c *Case) error {
	basis, err := t.cotangents(c, "jacobian")
	if err != nil {
		return err
	}
	var rows [][]*ndarray.Array
	for i := range basis[0].Len() {
		one := []*ndarray.Array{}
		for k, ct := range basis {
			zeros := make([]float64, ct.Len())
			if k == 0 {
				zeros[i] = 1
			}
			one = append(one, ndarray.FromFloats(ct.DType, ct.Shape, zeros))
		}
		_, gradients, err := t.bareGradient(c, one)
		if err != nil {
			return err
		}
		rows = append(rows, chosen(c, gradients, differentiable(c)))
	}
	var want []*ndarray.Array
	for k, like := range rows[0] {
		whole := stack(column(rows, k), like, 0)
		whole.Shape = slices.Concat(basis[0].Shape, like.Shape)
		whole.Strides = ndarray.DenseStrides(whole.Shape)
		want = append(want, whole)
	}
	r, err := t.transform(c.Name, &transformation{
		way: "jacobian", call: newCall(c), calls: []arrays{{inputs: given(c)}}, options: map[string]any{"wrt": differentiable(c)},
	})
	if err != nil {
		return err
	}
	return t.gaveEach(c.Name, r, want)
}

// gaveEach expects the same arrays from every spelling that the worker tried.
func (t *T) gaveEach(name string, r *transformed, want []*ndarray.Array) error {
	var facts struct{ Spellings []string }
	if err := r.facts(&facts); err != nil {
		return err
	}
	for i, spelling := range facts.Spellings {
		t.gave(name+", "+spelling, r, i, want)
	}
	return nil
}

func checkFunctionalCall(t *T) error {
	return t.eachPresence(func(c *Case) error {
		p, err := t.prepare(c, true, "functional")
		if err != nil {
			return err
		}
		r, err := t.transform(c.Name, request("module", nil, p))
		if err != nil {
			return err
		}
		t.gave(c.Name, r, 0, p.gradients)
		return nil
	})
}

// checkScan loops over the first axis of every input.
func checkScan(t *T) error {
	return t.eachPresence(func(c *Case) error {
		axes := slices.Repeat([]any{0}, len(present(c)))
		if t.Op.Gradient == nil {
			return t.loop(c, axes)
		}
		x, err := t.compose(c, axes)
		if err != nil {
			return err
		}
		name := x.m.describe()
		r, err := t.transform(name, &transformation{
			way: "scan", call: newCall(c), calls: []arrays{x.arguments}, options: x.options(false),
		})
		if err != nil {
			return err
		}
		t.gave(name+", loop", r, 0, x.m.stacked(x.results, x.results[0]))
		t.gave(name+", gradient of the loop", r, 1, x.m.stacked(x.gradients, x.gradients[0]))
		return nil
	})
}

// loop is checkScan for an op without a gradient.
func (t *T) loop(c *Case, axes []any) error {
	p := plan{name: "loop", dtypes: c.DTypes, batch: c.Batch, sizes: c.Sizes, attrs: c.Attrs, without: absent(c)}
	m, err := t.newMapping(p, level{3, axes})
	if err != nil {
		return err
	}
	x, err := t.mappedWant(m)
	if err != nil {
		return err
	}
	r, err := t.transform(m.describe(), &transformation{
		way: "scan", call: newCall(c), calls: []arrays{x.arguments}, options: map[string]any{"wrt": []int{}},
	})
	if err != nil {
		return err
	}
	t.gave(m.describe(), r, 0, x.want)
	return nil
}

// widened expects the error of the call with arrays of float64, which JAX has only while 64-bit types are on.
func (t *T) widened(c *Case, r *transformed) error {
	call := newCall(c)
	for i, in := range c.Inputs {
		if in != nil {
			call.Inputs[i] = &Tensor{Array: ndarray.New(lookup("f64"), in.Shape)}
		}
	}
	want := expect(rule.Compile(t.Op), call, t.Caller, t.env.device)
	if want == nil {
		return nil // the op takes them
	}
	if e := r.Calls[2].Error; e == nil || e.Class != want.Class || e.Text != want.Text {
		t.Fail(nil, c.Name+" as float64", "raised %+v, want %s: %s", e, want.Class, want.Text)
	}
	return nil
}

// checkWide calls eagerly and compiled while 64-bit types are on, then with arrays of such types.
func checkWide(t *T) error {
	return t.eachCase(func(d dtypes) []plan { return []plan{base(d)} }, func(c *Case) error {
		p, err := t.prepare(c, true, "x64")
		if err != nil {
			return err
		}
		r, err := t.transform(c.Name, request("x64", nil, p))
		if err != nil {
			return err
		}
		t.gave(c.Name+", eager", r, 0, p.want())
		t.gave(c.Name+", compiled", r, 1, p.want())
		return t.widened(c, r)
	})
}
