package conformance

import (
	"fmt"
	"slices"

	"github.com/opcast/opcast/internal/ndarray"
	"github.com/opcast/opcast/internal/opdef"
)

// checkGrad differentiates by all inputs.
func checkGrad(t *T) error {
	return t.eachCase(func(d dtypes) []plan { return presencePlans(t.Op, d) }, func(c *Case) error {
		return t.gradientOf(c, "grad", nil)
	})
}

// gradientOf differentiates by all inputs in the given way and compares with the gradient op.
func (t *T) gradientOf(c *Case, way string, options map[string]any) error {
	p, err := t.prepare(c, true, "grad")
	if err != nil {
		return err
	}
	return t.gradients(c.Name, way, options, p)
}

// gradients sends a prepared call and expects results, gradients and one launch of each.
func (t *T) gradients(name, way string, options map[string]any, p *prepared) error {
	r, err := t.transform(name, request(way, options, p))
	if err != nil {
		return err
	}
	if t.gave(name, r, 0, p.want()) {
		t.started(name, r, 0, p.launches())
	}
	return nil
}

// checkGradSome differentiates by each input alone.
func checkGradSome(t *T) error {
	return t.eachPresence(func(c *Case) error {
		whole, err := t.prepare(c, true, "grad")
		if err != nil {
			return err
		}
		for k, place := range whole.wrt {
			p := *whole
			p.wrt, p.gradients = []int{place}, whole.gradients[k:k+1]
			if err := proceed(t.gradients(fmt.Sprintf("%s, by input %d", c.Name, place), "grad", nil, &p)); err != nil {
				return err
			}
		}
		return nil
	})
}

// checkCotangents gives cotangents every layout that the framework has, and lets it make one itself.
func checkCotangents(t *T) error {
	return t.eachPresence(func(c *Case) error {
		p, err := t.prepare(c, true, "grad")
		if err != nil {
			return err
		}
		if err := forEach(ndarray.Layouts, func(l ndarray.Layout) error { return t.laidOutCotangent(p, l) }); err != nil {
			return err
		}
		return t.ownCotangent(p)
	})
}

// laidOutCotangent gives the first cotangent strides.
func (t *T) laidOutCotangent(whole *prepared, layout ndarray.Layout) error {
	view := layout.Apply(whole.arguments.cotangents[0].Array)
	if view == nil {
		return nil
	}
	dense := []*ndarray.Array{view.Dense()}
	for _, other := range whole.arguments.cotangents[1:] {
		dense = append(dense, other.Array)
	}
	p := *whole
	if err := t.differentiated(&p, dense); err != nil {
		return err
	}
	p.arguments.cotangents = tensorsOf(append([]*ndarray.Array{view}, dense[1:]...))
	return t.gradients(p.c.Name+", cotangent "+layout.Name, "grad", nil, &p)
}

// ownCotangent differentiates the sum of the first result: the cotangent is one everywhere, without memory of its own.
func (t *T) ownCotangent(whole *prepared) error {
	ones := []*ndarray.Array{}
	for i, ct := range whole.arguments.cotangents {
		value := 0.0
		if i == 0 {
			value = 1
		}
		ones = append(ones, ndarray.FromFloats(ct.DType, ct.Shape, slices.Repeat([]float64{value}, int(ct.Len()))))
	}
	p := *whole
	if err := t.differentiated(&p, ones); err != nil {
		return err
	}
	return t.gradients(p.c.Name+", gradient of the sum", "grad", map[string]any{"sum": true}, &p)
}

func checkVJP(t *T) error {
	return t.eachPresence(func(c *Case) error { return t.gradientOf(c, "vjp", nil) })
}

// Beginnings of the texts with which derivatives are refused.
const (
	noGradient    = "%s: no gradient is defined: "
	noForwardMode = "%s: no forward-mode derivative is defined: use reverse mode"
)

// floating are the places, among the given inputs, of those of floating point.
func floating(c *Case) []int {
	out := []int{}
	for place, i := range present(c) {
		if ndarray.IsFloat(c.Inputs[i].DType) {
			out = append(out, place)
		}
	}
	return out
}

// checkSecond asks for a derivative of what has none: of the gradient op, where the op has one, else of the op itself.
func checkSecond(t *T) error {
	return t.eachPresence(func(c *Case) error {
		cotangents, err := t.cotangents(c, "second")
		if err != nil {
			return err
		}
		x := &transformation{
			way: "second", call: newCall(c), calls: []arrays{{given(c), tensorsOf(cotangents)}},
			options: map[string]any{"wrt": floating(c)},
		}
		if t.Op.Gradient != nil {
			x.options["wrt"] = differentiable(c)
		}
		r, err := t.transform(c.Name, x)
		if err != nil {
			return err
		}
		if t.Op.Gradient == nil {
			var facts struct{ Advice string } // what to do about it, in the framework's terms
			if err := r.facts(&facts); err != nil {
				return err
			}
			t.notImplemented(c.Name, r, 0, noGradientOf(t.Op, facts.Advice))
			return nil
		}
		_, all, err := t.bareGradient(c, cotangents)
		if err != nil {
			return err
		}
		t.gave(c.Name+", with a graph of the gradients", r, 0, chosen(c, all, differentiable(c)))
		t.notImplemented(c.Name+", second derivative", r, 1, noGradientOf(t.Op.Gradient, ""))
		return nil
	})
}

// noGradientOf is the text with which a gradient of an op is refused: it ends with advice, or says that there is but one.
func noGradientOf(op *opdef.Op, advice string) string {
	if op.GradientOf != nil {
		advice = op.GradientOf.Name + " has a first derivative only"
	}
	return fmt.Sprintf(noGradient, op.Name) + advice
}

// checkForwardMode asks for tangents of the results.
func checkForwardMode(t *T) error {
	return t.eachPresence(func(c *Case) error {
		r, err := t.transform(c.Name, &transformation{
			way: "forward mode", call: newCall(c), calls: []arrays{{inputs: given(c)}}, options: map[string]any{"wrt": floating(c)},
		})
		if err != nil {
			return err
		}
		var facts struct{ Spellings []string }
		if err := r.facts(&facts); err != nil {
			return err
		}
		texts := []string{fmt.Sprintf(noForwardMode, t.Op.Name)}
		if t.Op.Gradient == nil { // then it may say that there is no derivative at all
			texts = append(texts, fmt.Sprintf(noGradient, t.Op.Name))
		}
		for i, spelling := range facts.Spellings {
			t.notImplemented(c.Name+", "+spelling, r, i, texts...)
		}
		return nil
	})
}

// gradientOp is the name under which launches of the gradient are counted.
func gradientOp(op *opdef.Op) string {
	if op.Gradient == nil {
		return ""
	}
	return op.Gradient.Name
}
