package python

import (
	"slices"

	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/rule"
)

// result prints the specs of outputs and scratch, the checks on given outputs and on overwritten inputs, and the return.
func (v *checkView) result(inputs code) []statement {
	var specs, attrs []code
	for _, out := range slices.Concat(v.Outputs, v.Scratch) {
		if out.List {
			specs = append(specs, v.listSpecs(&out))
			continue
		}
		spec := codef("(%s, %s)", v.shape(out.Type), v.dtype(out.Type))
		if out.PresentIf != "" {
			spec = codef("None if %s else %s", lacks(v.Op, &out, variable(out.PresentIf)), spec)
		}
		specs = append(specs, spec)
	}
	for _, a := range v.ABIAttrs() {
		attrs = append(attrs, variable(a.Name))
	}
	body := do("specs: _m.Specs = %s", tupleOf(specs))
	body = append(body, v.given(inputs)...)
	apart := v.ruled(v.apart)
	if v.HasLists() && len(apart) > 0 { // pairs of arrays are many, and rarely near each other
		apart = append(do("near = _m.may_meet(fw, %s)", inputs), block(codef("if near:"), apart)...)
	}
	body = append(body, apart...)
	return append(body, do("return specs, %s", tupleOf(attrs))...)
}

// apart is the check that an overwritten input shares no memory with the other arguments.
func (v *checkView) apart(r rule.Rule) []statement {
	if r.Kind != rule.Apart {
		return nil
	}
	var others []code
	for i := range v.Inputs {
		switch in := &v.Inputs[i]; {
		case in.Name == r.Arg && in.List: // its own other arrays count too
			others = append(others, codef("*_r.elements(%q, %s, %s)", in.Name, variable(in.Name), number))
		case in.Name != r.Arg:
			others = append(others, v.named(in))
		}
	}
	return do("_m.apart(fw, op, %s, %s, %s)", v.label(r.Arg), v.item(r.Arg), tupleOf(others))
}

// given prints the checks on the outputs that a call gives: those that are results. An op that overwrites inputs, or
// takes lists, takes none.
func (v *checkView) given(inputs code) []statement {
	if len(v.Mutated()) > 0 || v.HasLists() {
		return nil
	}
	var names, partners, conditions []string
	var reasons []code
	for _, out := range v.Results() {
		from := v.Program.DTypeOf[out.Type.Var]
		if v.InputIndex(from) < 0 {
			from = ""
		}
		names, partners, conditions = append(names, out.Name), append(partners, from), append(conditions, out.PresentIf)
		reasons = append(reasons, v.reason(&out))
	}
	call := codef("_m.outputs(fw, op, %s, specs, out, %s, %s", quotedTuple(names), inputs, quotedTuple(partners))
	if slices.ContainsFunc(conditions, func(c string) bool { return c != "" }) {
		call = codef("%s, %s", call, tupleOf(reasons))
	}
	return block(codef("if out is not None:"), do("%s)", call))
}

// lacks is the condition under which a call has no such output, where a variable holds what that depends on.
func lacks(op *opdef.Op, out *opdef.Arg, variable code) code {
	if op.Switch(out) != nil {
		return codef("not %s", variable)
	}
	return codef("%s is None", variable)
}

// reason is what says whether a call has an output, as errors name it.
func (v *checkView) reason(out *opdef.Arg) code {
	if v.Switch(out) == nil {
		return codef("%q", out.PresentIf)
	}
	return codef("%q if %s else %q", out.PresentIf+" is true", variable(out.PresentIf), out.PresentIf+" is false")
}

func (v *checkView) shape(t opdef.Type) code {
	var dims []code
	for _, d := range t.Dims {
		if d.Leading() {
			dims = append(dims, codef("*%s", batch))
		} else {
			dims = append(dims, v.expr(d.Expr))
		}
	}
	return tupleOf(dims)
}

// dtype prints the long dtype name of an output as an expression.
func (v *checkView) dtype(t opdef.Type) code {
	if t.Var == "" {
		return codef("%q", rule.Long([]string{t.DType})[0])
	}
	for _, a := range v.Attrs {
		if a.Binds != t.Var {
			continue
		}
		fallback, _ := a.Default.(string)
		if _, isVar := v.Program.DTypeOf[fallback]; isVar {
			return codef("%s if %s is None else %s", variable(fallback), variable(a.Name), variable(a.Name))
		}
		return codef("%q if %s is None else %s", rule.Long([]string{fallback})[0], variable(a.Name), variable(a.Name))
	}
	return variable(t.Var)
}
