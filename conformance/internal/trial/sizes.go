package trial

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/expr"
	"github.com/opcast/opcast/internal/language/rule"
)

// bindSizes reads sizes and leading dims off the given shapes. Shapes that contradict each other or the definition
// show later.
func (w Request) bindSizes(op *opdef.Op, p cases.Plan) (map[string]int64, []int64) {
	c := &cases.Case{Op: op, DTypes: p.DTypes, Attrs: w.Attrs, Sizes: map[string]int64{}}
	batch, known := p.Batch, false
	for _, s := range op.Steps {
		if s.When != nil && c.EvalCondition(s.When) == expr.KnownFalse {
			continue // the attributes choose other dims
		}
		in := &op.Inputs[s.Input]
		shape, given := w.Shapes[in.Name]
		after := len(in.Type.Dims) - s.Dim // dims from this one to the last
		trailing := len(in.Type.Dims) - 1  // dims after the leading ones
		switch {
		case !given:
		case in.Own && (s.Kind == opdef.BindBatch || s.Kind == opdef.CheckBatch): // see leads
		case s.Kind == opdef.BindBatch || s.Kind == opdef.CheckBatch:
			lead := shape[:max(len(shape)-trailing, 0)]
			if all, fit := rule.Broadcast(batch, lead); fit && known && op.Broadcasts() {
				lead = all
			}
			batch, known = lead, true
		case len(shape) < after:
		case s.Kind == opdef.BindSize:
			solve(c, s, shape[len(shape)-after])
		case s.Expr.Op == expr.OpSymbol:
			if _, known := c.Int(s.Expr.Name); !known {
				c.Sizes[s.Expr.Name] = shape[len(shape)-after]
			}
		}
	}
	return c.Sizes, batch
}

// leads are the leading dims of inputs that are broadcast: as given, the others have all of them. Arrays of lists that have
// leading dims of their own share them with those of the same number.
func (w Request) leads(op *opdef.Op, batch []int64) map[string][]int64 {
	out := map[string][]int64{}
	for _, in := range op.Inputs {
		if shape, given := w.Shapes[in.Name]; in.Own && given {
			for _, other := range slices.Concat(op.Inputs, op.Outputs) {
				if other.Own && other.At == in.At {
					out[other.Name] = shape[:max(len(shape)-len(in.Type.Dims)+1, 0)]
				}
			}
		}
		if in.Type.Lead() != opdef.Broadcast {
			continue
		}
		out[in.Name] = batch
		if shape, given := w.Shapes[in.Name]; given {
			out[in.Name] = shape[:max(len(shape)-len(in.Type.Dims)+1, 0)]
		}
	}
	return out
}

// solve gives a step's symbol the size for which the dim is n; a dim that has no such size is left to the rules.
func solve(c *cases.Case, s opdef.Step, n int64) {
	coefficient, err := s.Coef.Eval(c)
	if err != nil || coefficient == 0 {
		return
	}
	constant, err := s.Const.Eval(c)
	if err == nil && (n-constant)%coefficient == 0 {
		c.Sizes[s.Symbol] = (n - constant) / coefficient
	}
}

// ruleCall is the wanted call as the rules see it; a case fills in the shapes that are not given.
func (w Request) ruleCall(op *opdef.Op, chosen cases.DTypes, c *cases.Case) rule.Call {
	call := rule.Call{Framework: "array", Inputs: map[string]rule.Value{}, Attrs: map[string]any{}}
	for i := range op.Inputs {
		in := &op.Inputs[i]
		if slices.Contains(w.Without, in.Name) {
			continue
		}
		short := (&cases.Case{Op: op, DTypes: chosen}).DType(in.Type).Short
		if given := w.DTypes[in.Name]; given != "" {
			short = given
		}
		shape, given := w.Shapes[in.Name]
		if !given && c != nil {
			shape = c.Inputs[i].Shape
		}
		call.Inputs[in.Name] = rule.Value{Given: given || c != nil, DType: dtype.LongName(short), Device: w.Device, Shape: shape}
	}
	for name, v := range w.Attrs {
		if d, isDType := v.(cases.DType); isDType {
			v = string(d)
		}
		call.Attrs[name] = v
	}
	return call
}

// raised is the error that a call would raise.
func raised(e *rule.Error) error { return errors.New(e.Class + ": " + e.Text) }

// impossible says which part of the definition keeps a plan from having sizes. Where all of that part is given, the call has
// words for it; they do not say in which part of the definition something has no value.
func (w Request) impossible(op *opdef.Op, p cases.Plan) error {
	obstacle := cases.FindObstacle(op, p)
	checked := *op
	if obstacle != nil && obstacle.Broken != nil { // sizes that are guessed may break others
		checked.Requires = []*expr.Expr{obstacle.Broken}
	}
	expected := rule.Check(&checked, w.ruleCall(op, p.DTypes, w.guess(op, p)))
	switch {
	case expected == nil && obstacle == nil:
		return fmt.Errorf("%s: %w that are tried, together with the given ones", op.Name, cases.ErrNoSizes)
	case obstacle == nil:
		return raised(expected)
	case expected != nil && len(obstacle.Open) == 0 && obstacle.Broken != nil:
		return raised(expected)
	case expected != nil && len(obstacle.Open) == 0:
		return fmt.Errorf("%w: %s", raised(expected), obstacle)
	}
	return fmt.Errorf("%s: %s", op.Name, obstacle)
}

// guess is a call with the sizes of a plan in which the other sizes are as good as any.
func (w Request) guess(op *opdef.Op, p cases.Plan) *cases.Case {
	c := &cases.Case{Op: op, DTypes: p.DTypes, Attrs: w.Attrs, Batch: p.Batch, Sizes: maps.Clone(p.Sizes)}
	for i, name := range cases.Symbols(op) {
		if _, known := c.Sizes[name]; !known {
			c.Sizes[name] = cases.Candidates(op, name, i)[0]
		}
	}
	for i := range op.Inputs {
		shape, err := c.ShapeOf(&op.Inputs[i])
		if err != nil {
			shape = []int64{} // the rules tell what of it has no value
		}
		c.Inputs = append(c.Inputs, &ndarray.Array{DType: c.DType(op.Inputs[i].Type), Shape: shape})
	}
	return c
}
