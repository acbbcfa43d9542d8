package cpp

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/expr"
	"github.com/opcast/opcast/internal/language/rule"
)

// scratchNull says when a pointer to scratch is null, as the end of a comment; "" for never.
func (v *opView) scratchNull() string {
	if slices.ContainsFunc(v.KernelList(), func(k opdef.Kernel) bool { return !k.Scratch }) {
		return ", null for kernels that take none"
	}
	return ""
}

// scratchRules check a scratch tensor that is given, as an output.
func (v *opView) scratchRules(r rule.Rule) []string {
	i := slices.IndexFunc(v.Scratch, func(a opdef.Arg) bool { return a.Name == r.Arg })
	others := opdef.ArgNames(slices.Concat(v.Inputs, v.Outputs, v.Scratch[:i]))
	return ifGiven(r.Arg, v.writtenRules(&v.Scratch[i], others))
}

// ScratchSizes declare the sizes of each scratch tensor.
func (v *opView) ScratchSizes() []string {
	var out []string
	for i := range v.Scratch {
		sizes := v.sizes(v.Scratch[i].Type)
		out = append(out, fmt.Sprintf("const std::array<int64_t, %d> %s_sizes = {%s};", len(sizes), v.Scratch[i].Name, strings.Join(sizes, ", ")))
	}
	return out
}

// ScratchRows describe each scratch tensor to the dispatch.
func (v *opView) ScratchRows() []string {
	var out []string
	for i := range v.Scratch {
		a := &v.Scratch[i]
		name := variable(a.Name)
		dtype := variable(a.Type.Var)
		if a.Type.Var == "" {
			dtype = enumerator(a.Type.DType)
		}
		row := fmt.Sprintf("opcast::Scratch{%q, %s, &%s, &values.%s}.Sizes(%s_sizes)", a.Name, dtype, name, a.Name, a.Name)
		if a.Type.Lead() == opdef.Broadcast {
			row += ".LeadingDims(lead.shape(), lead.rank())"
		} else if batch, trailing := v.batchOf(a); batch != "nullptr" {
			row += fmt.Sprintf(".LeadingDims(%s, %d)", batch, trailing)
		}
		if a.Zeroed {
			row += ".Zeroed()"
		}
		out = append(out, row)
	}
	return out
}

// Invalid are the statements that zero the rows that mean nothing.
func (v *opView) Invalid() []string {
	var out []string
	for _, a := range v.Outputs {
		if a.Valid != "" {
			out = append(out, fmt.Sprintf("call.ZeroInvalid(%s, %s);", variable(a.Name), variable(a.Valid)))
		}
	}
	return out
}

// Contents are the checks of what inputs hold: of indices, or of the others, which only debugging looks at.
func (v *opView) Contents(indices bool) []string {
	var out []string
	for i := range v.Inputs {
		in := &v.Inputs[i]
		if v.HasIndices(in) != indices {
			continue
		}
		var checks []string
		if in.Min != nil {
			checks = append(checks, v.bound("ValuesAtLeast", in, in.Min))
		}
		if in.Max != nil {
			checks = append(checks, v.bound("ValuesAtMost", in, in.Max))
		}
		if in.Sorted {
			checks = append(checks, fmt.Sprintf("call.Ascending(%s);", v.variable(in.Name)))
		}
		out = append(out, v.overList(in.Name, checks)...)
	}
	return out
}

// Numbers are the checks of inputs that were given as numbers: they cost no pass over memory, so that every call makes them.
func (v *opView) Numbers() (out []string) {
	for i := range v.Inputs {
		in := &v.Inputs[i]
		if !v.TakesNumber(in) || in.Min == nil && in.Max == nil {
			continue
		}
		var checks []string
		for check, bound := range map[string]*expr.Expr{"AtLeast": in.Min, "AtMost": in.Max} {
			if bound != nil {
				checks = append(checks, v.numberBound(check, in, bound))
			}
		}
		slices.Sort(checks)
		out = append(out, block(fmt.Sprintf("if (%s.everywhere()) {", v.variable(in.Name)), checks)...)
	}
	return out
}

// numberBound is the check of one end of the range of a number, before it is rounded to the dtype.
func (v *opView) numberBound(check string, in *opdef.Arg, e *expr.Expr) string {
	read := "Float"
	if v.NumberType(in) == "int" {
		read = "Int"
	}
	given := fmt.Sprintf("call.%s(%s, %q)", read, v.Place(in.Name), in.Name)
	fixed, err := e.EvalExact(expr.NoValues{})
	constant := err == nil && len(e.Symbols()) == 0 && fixed.IsInt()
	switch {
	case read == "Int" && constant && fixed.Num().IsInt64():
		return fmt.Sprintf("call.%s(%q, %s, int64_t{%s});", check, in.Name, given, wholeLiteral(fixed))
	case read == "Int" && !constant && e.IsInteger():
		return fmt.Sprintf("call.%s(%q, %s, %s);", check, in.Name, given, v.expr(e))
	case read == "Int":
		given = "static_cast<double>(" + given + ")"
	}
	value := v.realPrinter(v.variable).Print(e)
	call := fmt.Sprintf("call.%s(%q, %s, %s, ", check, in.Name, given, value)
	if err == nil && len(e.Symbols()) == 0 {
		real, _ := fixed.Float64()
		text := rule.Number(real)
		if constant {
			text = fixed.Num().String()
		}
		return call + strconv.Quote(text) + ");"
	}
	sign := map[string]string{"AtLeast": ">=", "AtMost": "<="}[check] // a text is made for the error only
	return fmt.Sprintf("if (!(%s %s %s)) %sopcast::Number(%s).c_str());", given, sign, value, call, value)
}

// bound is the check of one end of a range. Integers keep all of their bits: a constant is computed here.
func (v *opView) bound(check string, in *opdef.Arg, e *expr.Expr) string {
	value := v.expr(e)
	text := "std::to_string(" + value + ")"
	fixed, err := e.EvalExact(expr.NoValues{})
	switch {
	case err == nil && len(e.Symbols()) == 0 && wholeLiteral(fixed) != "":
		value, text = wholeLiteral(fixed), strconv.Quote(fixed.Num().String())
	case !e.IsInteger():
		value = v.realPrinter(v.variable).Print(e)
		text = "opcast::Number(" + value + ")"
	}
	return fmt.Sprintf("call.%s(%s, %s, %s, {%s});", check, v.variable(in.Name), value, text, v.whyList(v.Program.Why(e), in.List))
}

// wholeLiteral is the C++ literal of an integer of at most 64 bits; "" for other numbers.
func wholeLiteral(value *big.Rat) string {
	switch n := value.Num(); {
	case !value.IsInt():
		return ""
	case n.IsInt64() && n.Int64() >= math.MinInt32 && n.Int64() <= math.MaxInt32:
		return n.String()
	case n.IsInt64() && n.Int64() != math.MinInt64:
		return "INT64_C(" + n.String() + ")"
	case n.IsInt64():
		return intLiteral(n.Int64())
	case n.IsUint64():
		return "UINT64_C(" + n.String() + ")"
	}
	return ""
}
