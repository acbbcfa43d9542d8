package cpp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/rule"
)

// absentWhen says when the pointer to an argument is null, as a comment on its field; "" for never.
func absentWhen(op *opdef.Op, a *opdef.Arg) string {
	switch {
	case a.Optional:
		return ", null when absent"
	case op.Switch(a) != nil:
		return ", null when " + a.PresentIf + " is false"
	case a.PresentIf != "":
		return ", null when " + a.PresentIf + " is absent"
	case a.Saved:
		return ", null when no gradient is wanted"
	}
	return ""
}

// RequiredNames is the initializer list of all arrays that must be given.
func (v *opView) RequiredNames() string {
	var out []string
	for _, a := range slices.Concat(v.Inputs, v.Outputs) {
		if absentWhen(v.Op, &a) == "" {
			out = append(out, fmt.Sprintf("{%s, %q}", v.Place(a.Name), a.Name))
		}
	}
	return strings.Join(out, ", ")
}

func addresses(names []string) string {
	var out []string
	for _, name := range names {
		out = append(out, "&"+variable(name))
	}
	return strings.Join(out, ", ")
}

// carriedDType declares a dtype variable that no required input binds.
func (v *opView) carriedDType(d opdef.DTypeVar) []string {
	out := rule.Carrier(v.Op, d.Name)
	if v.InputIndex(v.Program.DTypeOf[d.Name]) >= 0 || out == nil {
		return nil
	}
	name, value := v.first(out.Name), v.first(out.Name)+".dtype()"
	if absentWhen(v.Op, out) != "" {
		value = fmt.Sprintf("%s ? %s : %s", name, value, enumerator(d.OneOf[0]))
	}
	return one("const opcast::DType %s = %s;", variable(d.Name), value)
}

// output checks a given output.
func (v *opView) output(r rule.Rule) []string {
	i := slices.IndexFunc(v.Outputs, func(a opdef.Arg) bool { return a.Name == r.Arg })
	others := opdef.ArgNames(slices.Concat(v.Inputs, v.Outputs[:i]))
	given := ""
	if absentWhen(v.Op, r.Tensor) != "" {
		given = r.Arg
	}
	return ifGiven(given, append(v.made(&v.Outputs[i]), v.writtenRules(&v.Outputs[i], others)...))
}

// made has an output made that the caller left to the library.
func (v *opView) made(out *opdef.Arg) []string {
	dtype := variable(out.Type.Var)
	if out.Type.Var == "" {
		dtype = enumerator(out.Type.DType)
	}
	head, sizes := fmt.Sprintf("%s, %s, %s", v.variable(out.Name), dtype, v.DeviceOf()), strings.Join(v.sizes(out.Type), ", ")
	if out.Type.Lead() == opdef.Broadcast {
		return one("if (%s.unmade()) call.MakeOf(%s, lead.shape(), lead.rank(), {%s});", v.variable(out.Name), head, sizes)
	}
	batch, trailing := v.batchOf(out)
	return one("call.Make(%s, %s, %d, {%s});", head, batch, trailing, sizes)
}

// writtenRules check an output or a scratch tensor.
func (v *opView) writtenRules(out *opdef.Arg, others []string) []string {
	name := v.variable(out.Name)
	lines := one("call.DTypeIn(%s, {%s});", name, v.enumerators(out.Name))
	if from := v.Program.DTypeOf[out.Type.Var]; v.InputIndex(from) >= 0 {
		lines = one("call.DTypeAs(%s, %s, %q);", name, variable(out.Type.Var), v.FirstName(from))
	} else if first := rule.Carrier(v.Op, out.Type.Var); out.Type.Var != "" && first != out {
		lines = one("call.DTypeAs(%s, %s, %q);", name, variable(out.Type.Var), v.FirstName(first.Name))
	} else if out.Type.Var != "" && out.List {
		as := fmt.Sprintf("call.DTypeAs(%s, %s, %q);", name, variable(out.Type.Var), v.FirstName(out.Name))
		lines = []string{"if (e == 0) {", step + lines[0], "} else {", step + as, "}"}
	}
	batch, trailing := v.batchOf(out)
	shape := fmt.Sprintf("call.OutputShape(%s, %s, %d, {%s});", name, batch, trailing, strings.Join(v.sizes(out.Type), ", "))
	if out.Type.Lead() == opdef.Broadcast {
		shape = fmt.Sprintf("call.HasShape(%s, lead.shape(), lead.rank(), {%s});", name, strings.Join(v.sizes(out.Type), ", "))
	}
	return append(lines,
		fmt.Sprintf("call.SameDevice(%s, %s);", name, v.DeviceOf()),
		shape,
		fmt.Sprintf("call.Dense(%s); call.Data(%s);", name, name),
		v.apart(out.Name, others, true))
}

// batchOf is the address of the input whose leading dims an array has, and the number of its other dims.
func (v *opView) batchOf(a *opdef.Arg) (input string, trailing int) {
	if star, _ := rule.Trailing(a.Type); !star {
		return "nullptr", 0
	}
	if own := v.Program.OwnBatch[0]; a.Own {
		_, trailing = rule.Trailing(v.input(own).Type)
		return "&" + v.variable(own), trailing
	}
	_, trailing = rule.Trailing(v.input(v.Program.BatchOf).Type)
	return "&" + v.first(v.Program.BatchOf), trailing
}

// sizes prints the dims of a type without the leading ones.
func (v *opView) sizes(t opdef.Type) []string {
	var sizes []string
	for _, d := range t.Dims {
		if d.Expr != nil {
			sizes = append(sizes, v.expr(d.Expr))
		}
	}
	return sizes
}

// DeviceOf is the array on whose device the call runs; every op has an input, and the first is required.
func (v *opView) DeviceOf() string { return v.first(v.Inputs[0].Name) }

// NoneEmpty is the condition under which there is nothing to write.
func (v *opView) NoneEmpty() string {
	var out []string
	for _, a := range v.Outputs {
		out = append(out, variable(a.Name)+".empty()")
	}
	for _, a := range v.Inputs {
		if a.Mutated {
			out = append(out, variable(a.Name)+".empty()")
		}
	}
	return strings.Join(out, " && ")
}
