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
