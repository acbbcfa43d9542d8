package gen

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/rule"
)

// result prints the specs of outputs and scratch, the checks on given outputs and on overwritten inputs, and the return.
func (v *checkView) result(inputs string) []string {
	var specs, attrs []string
	for _, out := range slices.Concat(v.Outputs, v.Scratch) {
		spec := fmt.Sprintf("(%s, %s)", v.shape(out.Type), v.dtype(out.Type))
		if out.PresentIf != "" {
			spec = fmt.Sprintf("None if %s is None else %s", pyArg(out.PresentIf), spec)
		}
		specs = append(specs, spec)
	}
	for _, a := range v.ABIAttrs() {
		attrs = append(attrs, pyArg(a.Name))
	}
	lines := one("specs: _m.Specs = %s", pyTuple(specs))
	lines = append(lines, v.given(inputs)...)
	for _, r := range v.Program.Rules {
		if r.Kind == rule.Apart {
			var others []string
			for _, name := range r.Others {
				others = append(others, pyPair(name))
			}
			lines = append(lines, fmt.Sprintf("_m.apart(fw, op, %q, %s, %s)", r.Arg, pyArg(r.Arg), pyTuple(others)))
		}
	}
	return append(lines, "return specs, "+pyTuple(attrs))
}

// given prints the checks on the outputs that a call gives: those that are results. An op that overwrites inputs takes none.
func (v *checkView) given(inputs string) []string {
	if len(v.Mutated()) > 0 {
		return nil
	}
	var names, partners, conditions []string
	for _, out := range v.Results() {
		from := v.Program.DTypeOf[out.Type.Var]
		if v.InputIndex(from) < 0 {
			from = ""
		}
		names, partners, conditions = append(names, out.Name), append(partners, from), append(conditions, out.PresentIf)
	}
	call := fmt.Sprintf("_m.outputs(fw, op, %s, specs, out, %s, %s", pyStrings(names), inputs, pyStrings(partners))
	if slices.ContainsFunc(conditions, func(c string) bool { return c != "" }) {
		call += ", " + pyStrings(conditions)
	}
	return []string{"if out is not None:", pyIndent + call + ")"}
}

func (v *checkView) shape(t opdef.Type) string {
	var dims []string
	for _, d := range t.Dims {
		if d.Star {
			dims = append(dims, "*batch")
		} else {
			dims = append(dims, v.expr(d.Expr))
		}
	}
	return pyTuple(dims)
}

// dtype prints the long dtype name of an output as an expression.
func (v *checkView) dtype(t opdef.Type) string {
	if t.Var == "" {
		return strconv.Quote(rule.Long([]string{t.DType})[0])
	}
	for _, a := range v.Attrs {
		if a.Binds != t.Var {
			continue
		}
		fallback, _ := a.Default.(string)
		if _, isVar := v.Program.DTypeOf[fallback]; isVar {
			return fmt.Sprintf("%s if %s is None else %s", pyArg(fallback), pyArg(a.Name), pyArg(a.Name))
		}
		return fmt.Sprintf("%q if %s is None else %s", rule.Long([]string{fallback})[0], pyArg(a.Name), pyArg(a.Name))
	}
	return pyArg(t.Var)
}
