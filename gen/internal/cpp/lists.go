package cpp

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/rule"
)

// Arrays of a list are checked in a loop over their number e, in which xs_[e] is the array and n_[e] its size n.

// variable is what holds an argument or a size where it is checked: of a list, that of array number e.
func (v *opView) variable(name string) string {
	if v.IsList(name) || v.Differs(name) {
		return variable(name) + "[e]"
	}
	return variable(name)
}

// first is what holds an argument, of a list the first array: it decides for all.
func (v *opView) first(name string) string {
	if v.IsList(name) {
		return variable(name) + "[0]"
	}
	return variable(name)
}

// length is the variable that holds how many arrays a list has.
func length(list string) string { return list + "_count" }

// lengthOf is how many arrays an argument that is a list has.
func lengthOf(a *opdef.Arg) string {
	if a.Per != "" {
		return length(a.Per)
	}
	return length(a.Name)
}

// overList puts statements about the arrays of a list into a loop over these.
func (v *opView) overList(arg string, lines []string) []string {
	if !v.IsList(arg) || len(lines) == 0 {
		return lines
	}
	return block(fmt.Sprintf("for (size_t e = 0; e < %s.size(); ++e) {", variable(arg)), lines)
}

// Lengths are the statements that read how many arrays each list has.
func (v *opView) Lengths() []string {
	lists := v.Lists()
	if len(lists) == 0 {
		return nil
	}
	out := one("const opcast::Lengths lengths(%q, argv, count, {%s});", v.Name, `"`+strings.Join(lists, `", "`)+`"`)
	for i, list := range lists {
		if first := slices.Index(lists, v.Partner(list)); first != i {
			out = append(out, fmt.Sprintf("lengths.Same(%d, %d);", i, first))
		}
		out = append(out, fmt.Sprintf("const int %s = lengths[%d];", length(list), i))
	}
	return out
}

// Place is the number of an argument of the export, or of the first array of a list, as an expression.
func (v *opView) Place(name string) string {
	if !v.HasLists() {
		return strconv.Itoa(v.Index(name))
	}
	at := v.Index(name)
	return v.sum(len(v.Lists()), slices.Concat(v.Outputs, v.Inputs)[:min(at, len(v.Outputs)+len(v.Inputs))], max(0, at-len(v.Outputs)-len(v.Inputs)))
}

// Count is the number of arguments of the export, as an expression.
func (v *opView) Count() string {
	if !v.HasLists() {
		return strconv.Itoa(v.Arity())
	}
	return v.sum(len(v.Lists()), slices.Concat(v.Outputs, v.Inputs), len(v.ABIAttrs())+len(v.Scratch))
}

// sum counts arguments: some, then these arrays, then more.
func (v *opView) sum(before int, args []opdef.Arg, after int) string {
	single := before + after
	var text string
	for i := range args {
		if args[i].List {
			text += " + " + lengthOf(&args[i])
		} else {
			single++
		}
	}
	return strconv.Itoa(single) + text
}

// required are the statements that look for arguments that are not given.
func (v *opView) required() []string {
	if !v.HasLists() {
		return one("call.Required({%s});", v.RequiredNames())
	}
	var out []string
	for _, a := range slices.Concat(v.Inputs, v.Outputs) {
		switch {
		case a.List:
			out = append(out, fmt.Sprintf("opcast::RequireList(call, %s, %s, %q);", v.Place(a.Name), lengthOf(&a), a.Name))
		case absentWhen(v.Op, &a) == "":
			out = append(out, fmt.Sprintf("call.Required({{%s, %q}});", v.Place(a.Name), a.Name))
		}
	}
	return out
}

// declareArray reads an array argument, or all arrays of a list.
func (v *opView) declareArray(a *opdef.Arg) string {
	qualifier := "const "
	if slices.ContainsFunc(v.Outputs, func(out opdef.Arg) bool { return out.Name == a.Name }) { // which may yet have to be made
		qualifier = ""
	}
	if a.List {
		return fmt.Sprintf("%sopcast::Tensors %s(call, %s, %s, %q);", qualifier, variable(a.Name), v.Place(a.Name), lengthOf(a), a.Name)
	}
	if v.TakesNumber(a) {
		return fmt.Sprintf("const opcast::ScalarInput %s(call, %s, %q, %s);", variable(a.Name), v.Place(a.Name), a.Name, v.dtypeOfNumber(a))
	}
	return fmt.Sprintf("%sopcast::Tensor %s = call.Array(%s, %q);", qualifier, variable(a.Name), v.Place(a.Name), a.Name)
}

// dtypeOfNumber is the dtype that a number has in the place of an input: that of the input, or of an array with the same variable.
func (v *opView) dtypeOfNumber(a *opdef.Arg) string {
	if a.Type.Var == "" {
		return enumerator(v.Allowed(*a)[0])
	}
	given, allowed := "", enumerators(v.Allowed(*a))
	if giver := v.NumberGiver(a); giver != nil {
		given = v.first(giver.Name) + ".dtype()"
	} else {
		var places []string
		for _, k := range v.Sharing(a.Type.Var) {
			places = append(places, v.Place(v.Inputs[k].Name))
		}
		given = "opcast::DTypeOfAny(call, {" + strings.Join(places, ", ") + "})"
	}
	return fmt.Sprintf("opcast::Among(%s, {%s})", given, allowed)
}

// apart is the check that what an argument holds is apart from others; earlier says that those up to itself are meant.
func (v *opView) apart(arg string, others []string, earlier bool) string {
	if !v.HasLists() {
		return fmt.Sprintf("call.Apart(%s, {%s});", variable(arg), addresses(others))
	}
	function, groups := "Apart", []string{}
	if earlier {
		function = "ApartFromEarlier"
	}
	for _, name := range others {
		groups = append(groups, variable(name))
	}
	if v.IsList(arg) && !slices.Contains(others, arg) { // its own other arrays count too
		groups = append(groups, variable(arg))
	}
	return fmt.Sprintf("opcast::%s(call, %s, {%s});", function, v.variable(arg), strings.Join(groups, ", "))
}

// dtypeIn checks the dtype of an input that binds it: for a list, the first array does, and the others have to agree.
func (v *opView) dtypeIn(r rule.Rule) []string {
	name := v.variable(r.Arg)
	check := fmt.Sprintf("call.DTypeIn(%s, {%s});", name, v.enumerators(r.Arg))
	switch {
	case r.Var == "":
		return []string{check}
	case v.IsList(r.Arg):
		as := fmt.Sprintf("call.DTypeAs(%s, %s, %q);", name, variable(r.Var), v.FirstName(r.Arg))
		return []string{"if (e == 0) {", step + check, "} else {", step + as, "}"}
	}
	assign := fmt.Sprintf("%s = %s.dtype();", variable(r.Var), name)
	if r.If == "" {
		assign = "const opcast::DType " + assign
	}
	return []string{check, assign}
}

// bindShared takes a size that all arrays of a list have from the first, and compares those of the others.
func (v *opView) bindShared(r rule.Rule) []string {
	why := v.whyList(r.Why, true)
	return []string{
		"if (e == 0) {", step + fmt.Sprintf("%s = %s;", variable(r.Symbol), v.solve(r)), "} else {",
		step + fmt.Sprintf("call.Size(%s, %d, %s, {%s});", v.variable(r.Arg), r.Dim, v.expr(r.Expr), why), "}",
	}
}

// listField is the member for an input or output that is a list.
func (v *opView) listField(a *opdef.Arg, qualifier, comment string) field {
	f := field{Name: a.Name, Comment: comment, Value: fmt.Sprintf("{%s_data.data(), %s_data.size()}", a.Name, a.Name)}
	kind := typeName(a.Type.DType)
	if kind == "" {
		kind = "void"
	}
	f.Decl = fmt.Sprintf("opcast::Arrays<%s%s> %s", qualifier, kind, a.Name)
	if a.Type.Var != "" {
		f.Typed = fmt.Sprintf("opcast::Arrays<%s%s> %s", qualifier, a.Type.Var, a.Name)
		f.Cast = fmt.Sprintf("{args.%s.items, args.%s.count}", a.Name, a.Name)
	}
	return f
}

// ListData declares what the members for lists point to.
func (v *opView) ListData() []string {
	var out []string
	for _, a := range slices.Concat(v.Outputs, v.Inputs) {
		if a.List {
			out = append(out, fmt.Sprintf("const std::vector<void*> %s_data = %s.data();", a.Name, variable(a.Name)))
		}
	}
	if own := v.Program.OwnBatch[0]; own != "" {
		_, trailing := rule.Trailing(v.input(own).Type)
		out = append(out, fmt.Sprintf("const std::vector<int64_t> batches = %s.batches(%d);", variable(own), trailing))
	}
	return out
}
