package python

import (
	"fmt"
	"slices"

	"github.com/opcast/opcast/gen/internal/python/layout"
	"github.com/opcast/opcast/gen/internal/view"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/rule"
)

// CountsBatch says whether the number of operations of some op depends on the leading dims.
func (v *checksView) CountsBatch() bool {
	return slices.ContainsFunc(v.Ops, (*checkView).countsBatch)
}

// FlopTable is the table of the functions that count operations.
func (v *checksView) FlopTable() string {
	var items []layout.Node
	for _, op := range v.Ops {
		if op.Flops != nil {
			items = append(items, layout.Leaf(fmt.Sprintf("%q: _flops_%s", op.Name, op.Name)))
		}
	}
	return layout.List("FLOPS: dict[str, Callable[..., int]] = {", items, "}").Print("", "")
}

func (v *checkView) countsBatch() bool {
	return v.Flops != nil && v.HasBatch() && slices.Contains(v.Flops.Symbols(), opdef.Batch)
}

// FlopParameters is the parameter list of the function that counts operations: framework, inputs, attrs.
func (v *checkView) FlopParameters() string {
	return parameterList(v.arguments())
}

// FlopLines is the body of that function. Its calls meet the rules, so of these only what gives values to sizes remains.
func (v *checkView) FlopLines() []string {
	return view.Wrap(lines(v.flopBody()), layout.Step, layout.LineLength)
}

// flopBody are the statements of that function; none where nobody says how many operations there are.
func (v *checkView) flopBody() []statement {
	if v.Flops == nil {
		return nil
	}
	body := append(v.hoisted(), v.ruled(v.values)...)
	if v.countsBatch() {
		body = append(body, set(codef("math.prod(%s)", batch), variable(opdef.Batch))...)
	}
	const result = "flops_" // as no name of a definition ends
	body = append(body, v.let(rule.Rule{Symbol: result, Expr: v.Flops})...)
	body = append(body, do("return %s", variable(result))...)
	none := func(code) bool { return false } // nothing is refused
	body = slices.DeleteFunc(dropUnread(body, none), func(s statement) bool { return len(s.targets) == 0 && s.isRefusal() })
	body = dropUnread(body, none)
	if calls(ofRules, body) || calls(ofArithmetic, body) {
		body = append(set(codef("%q", v.Name), code{text: "op"}), body...)
	}
	return body
}

// values are the statements of a rule that give a value to shapes and sizes.
func (v *checkView) values(r rule.Rule) []statement {
	switch r.Kind {
	case rule.Rank:
		return set(codef("fw.shape(%s)", v.item(r.Arg)), shapeOf(r.Arg))
	case rule.BatchBind, rule.BatchJoin, rule.SizeBind, rule.Let:
		return v.size(r)
	}
	return nil
}
