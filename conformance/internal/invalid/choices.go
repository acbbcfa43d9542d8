package invalid

import (
	"fmt"
	"maps"
	"slices"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/expr"
	"github.com/opcast/opcast/internal/language/rule"
)

// maxChoices is how many combinations of attr values are tried for one rule: the cost of a definition with many attrs.
const maxChoices = 64

// Choices are the changes of dims that only other values of attrs than those of the case make wrong: with its own, the rule
// is void, or every size keeps it. For example, any number of columns fits "(2 if gated else 1)*D" without the gate.
func Choices(c *cases.Case, program *rule.Program) []Change {
	var out []Change
	for i, r := range program.Rules {
		if attrs := Chosen(program.Op, r); len(attrs) > 0 {
			if change := findChoice(c, program, i, attrs); change != nil {
				out = append(out, *change)
			}
		}
	}
	return out
}

// Chosen names the attrs on which it depends whether a rule about a dim can be broken; none for other rules.
func Chosen(op *opdef.Op, r rule.Rule) (attrs []string) {
	if r.Kind != rule.SizeBind && r.Kind != rule.SizeIs {
		return nil
	}
	names := map[string]bool{}
	for _, e := range []*expr.Expr{r.When, r.Coef, r.Const, r.Expr} {
		mention(op, e, names)
	}
	for _, a := range op.Attrs {
		if names[a.Name] {
			attrs = append(attrs, a.Name)
		}
	}
	return attrs
}

// mention collects the names in an expression and in the lets that it uses.
func mention(op *opdef.Op, e *expr.Expr, names map[string]bool) {
	if e == nil {
		return
	}
	for _, name := range e.Symbols() {
		names[name] = true
		if i := slices.IndexFunc(op.Lets, func(l opdef.Let) bool { return l.Name == name }); i >= 0 {
			mention(op, op.Lets[i].Expr, names)
		}
	}
}

// findChoice searches values of the attrs with which a dim that is one larger, or zero, breaks the rule. It is nil where there
// are none, or where the case itself serves.
func findChoice(c *cases.Case, program *rule.Program, number int, attrs []string) *Change {
	r := program.Rules[number]
	input := c.Op.InputIndex(r.Arg)
	for k, values := range combinations(c.Op, attrs, rulesNumbers(c.Op, r)) {
		p := cases.BasePlan(c.DTypes)
		p.Batch, p.Leads, p.Attrs = c.Batch, c.Leads, maps.Clone(c.Attrs)
		maps.Copy(p.Attrs, values)
		valid, err := cases.New(c.Op, p)
		if err != nil {
			continue
		}
		x := valid.Inputs[input]
		dim := r.Dim
		if dim < 0 {
			dim += x.Rank()
		}
		for _, size := range []int64{x.Shape[dim] + 1, 0} {
			shape := slices.Clone(x.Shape)
			shape[dim] = size
			bad := valid.With(input, ndarray.New(x.DType, shape), "another size")
			switch {
			case !breaks(program, number, bad):
				continue
			case k == 0:
				return nil
			}
			return &Change{
				Kind: fmt.Sprintf("dim %d with other attributes", dim), Arg: r.Arg, Phase: PhaseInput + phasesPerInput*input + PhaseOfDims,
				Alone: true, edit: func(call *calls.Call) { put(call, bad) },
			}
		}
	}
	return nil
}

// breaks reports whether a rule is the first that a call breaks.
func breaks(program *rule.Program, number int, c *cases.Case) bool {
	before, with := *program, *program
	before.Rules, with.Rules = program.Rules[:number], program.Rules[:number+1]
	call := calls.New(c)
	return ExpectedError(&before, call, calls.Definition{}, "cpu") == nil && ExpectedError(&with, call, calls.Definition{}, "cpu") != nil
}

// rulesNumbers are numbers at which what a rule says may change.
func rulesNumbers(op *opdef.Op, r rule.Rule) (numbers []int64) {
	for _, e := range []*expr.Expr{r.When, r.Coef, r.Const, r.Expr} {
		if e != nil {
			numbers = append(numbers, numbersAround(op, e)...)
		}
	}
	slices.Sort(numbers)
	return slices.Compact(numbers)
}

// combinations are choices of values for some attrs: none first, then those of one attr, of two, and so on.
func combinations(op *opdef.Op, attrs []string, numbers []int64) []map[string]any {
	all := []map[string]any{{}}
	for i := range op.Attrs {
		a := &op.Attrs[i]
		if !slices.Contains(attrs, a.Name) || a.Type == "dtype" {
			continue
		}
		for _, values := range slices.Clone(all) {
			for _, v := range cases.TriedValues(op, a, numbers) {
				more := maps.Clone(values)
				more[a.Name] = v
				all = append(all, more)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b map[string]any) int { return len(a) - len(b) })
	return all[:min(len(all), maxChoices)]
}
