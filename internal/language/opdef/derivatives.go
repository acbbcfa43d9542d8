package opdef

import "fmt"

// GradPrefix makes the name of a gradient in op's gradient op from that of an argument. It counts the order, so that no
// two arguments share a name: the gradient op of a gradient op speaks of grad2_x.
func (o *Op) GradPrefix() string {
	return prefix("grad", o, func(p *Op) bool { return p.GradientOf != nil })
}

// TangentPrefix makes the name of a tangent in op's op of tangents from that of an argument.
func (o *Op) TangentPrefix() string {
	return prefix("tangent", o, func(p *Op) bool { return p.TangentOf != nil })
}

func prefix(word string, op *Op, counts func(*Op) bool) string {
	order := 1
	for p := op; p != nil; p = p.DerivedFrom() {
		if counts(p) {
			order++
		}
	}
	if order == 1 {
		return word + "_"
	}
	return fmt.Sprintf("%s%d_", word, order)
}

// DerivedFrom is the op of which this one computes gradients or tangents; nil for other ops.
func (o *Op) DerivedFrom() *Op {
	if o.GradientOf != nil {
		return o.GradientOf
	}
	return o.TangentOf
}

// Derived are the ops that compute derivatives of this one, and derivatives of these.
func (o *Op) Derived() []*Op {
	var out []*Op
	for _, op := range []*Op{o.Gradient, o.Tangent} {
		if op != nil {
			out = append(append(out, op), op.Derived()...)
		}
	}
	return out
}
