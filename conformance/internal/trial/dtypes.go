package trial

import (
	"fmt"
	"slices"
	"strings"

	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/expr"
	"github.com/opcast/opcast/internal/language/rule"
)

// chooseDTypes finds dtypes for all variables: as given, the others the first that some kernel takes.
func (w Request) chooseDTypes(op *opdef.Op) (cases.DTypes, error) {
	// Where no kernel takes them, the library has the better words.
	for _, d := range slices.Concat(cases.SupportedDTypes(op, w.Device), cases.DeclaredDTypes(op)) {
		if (w.Kernel == "" || slices.Contains(cases.KernelsFor(op, w.Device, d), w.Kernel)) && w.agrees(op, d) {
			return d, nil
		}
	}
	return nil, w.refusedDTypes(op)
}

// agrees says whether the dtypes that are given are those of a choice.
func (w Request) agrees(op *opdef.Op, d cases.DTypes) bool {
	for i := range op.Inputs {
		in := &op.Inputs[i]
		if short, given := w.DTypes[in.Name]; given && in.Type.Var != "" && d[in.Type.Var] != short {
			return false
		}
	}
	return w.attrsAgree(op, d)
}

// refusedDTypes says which of the wanted dtypes the op does not take, and which it takes; or else that the kernel does not.
func (w Request) refusedDTypes(op *opdef.Op) error {
	if err := w.unknownDType(op); err != nil {
		return err
	}
	declared := cases.DeclaredDTypes(op)
	chosen, broken := w.completed(op)
	other := Request{DTypes: w.DTypes, Attrs: map[string]any{}, Without: w.Without, Device: w.Device}
	for _, a := range op.Attrs {
		if v, given := w.Attrs[a.Name]; given && a.Type == "dtype" {
			other.Attrs[a.Name] = v
		}
	}
	p := cases.BasePlan(chosen)
	p.Without, p.NoData = w.Without, true
	unbound, checked := *op, *op
	unbound.Requires, checked.Requires = nil, broken
	if c, err := cases.New(&unbound, p); err == nil { // the shapes of a call in which only dtypes can be wrong
		if expected := rule.Check(&checked, other.ruleCall(op, chosen, c)); expected != nil && (expected.Class == "TypeError" || len(broken) > 0) {
			return raised(expected)
		}
	}
	var taken []cases.DTypes
	for _, d := range declared { // where no kernel is named, the library says what its kernels take
		if w.Kernel == "" || slices.Contains(cases.KernelsFor(op, w.Device, d), w.Kernel) {
			taken = append(taken, d)
		}
	}
	who := op.Name
	if w.Kernel != "" {
		who += ": kernel " + w.Kernel + " for " + w.Device
	}
	if len(taken) == 0 {
		return fmt.Errorf("%s takes no dtypes: is it for another device?", who)
	}
	return fmt.Errorf("%s does not take these dtypes; it takes %s", who, describe(op, taken))
}

// unknownDType says of the first input whose dtype is none of those of its variable which these are.
func (w Request) unknownDType(op *opdef.Op) error {
	for _, in := range op.Inputs {
		short, given := w.DTypes[in.Name]
		i := slices.IndexFunc(op.DTypes, func(v opdef.DTypeVar) bool { return v.Name == in.Type.Var })
		if given && i >= 0 && !slices.Contains(op.DTypes[i].OneOf, short) {
			text := fmt.Sprintf("%s: %s: expected dtype %s, got %s", op.Name, in.Name, rule.Or(rule.Long(op.DTypes[i].OneOf)), dtype.LongName(short))
			return raised(&rule.Error{Class: "TypeError", Text: text})
		}
	}
	return nil
}

// completed are dtypes for all variables: those that follow from what is given, whatever the conditions say, and any others.
// It also returns the conditions that what is given breaks, whatever the others are.
func (w Request) completed(op *opdef.Op) (cases.DTypes, []*expr.Expr) {
	given := cases.DTypes{}
	for _, in := range op.Inputs {
		if short := w.DTypes[in.Name]; short != "" && in.Type.Var != "" && given[in.Type.Var] == "" {
			given[in.Type.Var] = short
		}
	}
	for i := range op.Attrs {
		a := &op.Attrs[i]
		long, named := w.Attrs[a.Name].(cases.DType)
		switch d, known := dtype.LookupLong(string(long)); {
		case a.Binds == "" || given[a.Binds] != "":
		case named && known:
			given[a.Binds] = d.Short
		case !named && a.HasDefault:
			given[a.Binds] = (&cases.Case{Op: op, DTypes: given}).DefaultDType(a)
		}
	}
	all := slices.Concat(cases.DeclaredDTypes(op), cases.ExcludedDTypes(op))
	fitting := slices.DeleteFunc(slices.Clone(all), func(d cases.DTypes) bool {
		return slices.ContainsFunc(op.DTypes, func(v opdef.DTypeVar) bool {
			return given[v.Name] != "" && slices.Contains(v.OneOf, given[v.Name]) && d[v.Name] != given[v.Name]
		})
	})
	return fitting[0], slices.DeleteFunc(slices.Clone(op.Requires), func(e *expr.Expr) bool {
		return slices.ContainsFunc(fitting, func(d cases.DTypes) bool { return e.EvalCondition(d, nil) != expr.KnownFalse })
	})
}

// describe lists what each variable may be in some choices: "O = float32 or bfloat16, T = float32".
func describe(op *opdef.Op, choices []cases.DTypes) string {
	var parts []string
	for _, v := range op.DTypes {
		var list []string
		for _, d := range choices {
			if long := dtype.LongName(d[v.Name]); !slices.Contains(list, long) {
				list = append(list, long)
			}
		}
		parts = append(parts, v.Name+" = "+rule.Or(list))
	}
	return strings.Join(parts, ", ")
}

// attrsAgree says whether the dtype attrs, given or by default, are what the choice of dtypes says.
func (w Request) attrsAgree(op *opdef.Op, d cases.DTypes) bool {
	c := &cases.Case{Op: op, DTypes: d}
	for i := range op.Attrs {
		a := &op.Attrs[i]
		if a.Binds == "" {
			continue
		}
		want := cases.DType(dtype.LongName(d[a.Binds]))
		if v, given := w.Attrs[a.Name].(cases.DType); given && v != want {
			return false
		} else if !given && a.HasDefault && c.DefaultDType(a) != d[a.Binds] {
			return false
		}
	}
	return true
}
