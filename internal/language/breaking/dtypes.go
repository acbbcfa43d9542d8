package breaking

import (
	"slices"

	"github.com/opcast/opcast/internal/language/opdef"
)

// dtypes compares which dtypes arguments may have, alone and together with each input.
func (c *comparison) dtypes(old, op *opdef.Op) {
	c.absent(old, op)
	inputs := len(old.Inputs)
	args, others := slices.Concat(old.Inputs, old.Outputs), slices.Concat(op.Inputs, op.Outputs)
	for i, was := range args {
		is, ok := named(others, was.Name)
		if !ok || was.Saved {
			continue
		}
		for _, dtype := range without(allowed(old, was), allowed(op, is)) {
			c.breaks("%s cannot be %s any more", was.Name, dtype)
		}
		for _, first := range args[:min(i, inputs)] {
			if other, ok := named(others, first.Name); ok {
				before, after := pair{old, first, was}, pair{op, other, is}
				if i < inputs {
					c.together(before, after)
				} else {
					c.follows(before, after)
				}
			}
		}
	}
}

// absent compares what the dtypes of inputs count as where these are left out.
func (c *comparison) absent(old, op *opdef.Op) {
	for _, v := range old.DTypes {
		was, _ := named(old.Inputs, old.OptionalDType(v.Name))
		is, ok := named(op.Inputs, was.Name)
		if !ok || op.OptionalDType(is.Type.Var) == "" {
			continue
		}
		if before, after := v.OneOf[0], allowed(op, is)[0]; before != after {
			c.breaks("where %s is left out, its dtype counts as %s, and was %s", is.Name, after, before)
		}
	}
}

// named finds an argument.
func named(args []opdef.Arg, name string) (opdef.Arg, bool) {
	i := slices.IndexFunc(args, func(a opdef.Arg) bool { return a.Name == name })
	if i < 0 {
		return opdef.Arg{}, false
	}
	return args[i], true
}

// pair is two arguments of an op.
type pair struct {
	op            *opdef.Op
	first, second opdef.Arg
}

// tied says that both have the same dtype in every call.
func (p pair) tied() bool { return p.first.Type.Var != "" && p.first.Type.Var == p.second.Type.Var }

// has says whether a call may have two dtypes.
func (p pair) has(first, second string) bool {
	return slices.Contains(allowed(p.op, p.first), first) && slices.Contains(allowed(p.op, p.second), second) &&
		(!p.tied() || first == second)
}

// together compares two inputs: what one may be beside the other.
func (c *comparison) together(before, after pair) {
	if before.tied() || !after.tied() {
		return
	}
	for _, a := range allowed(after.op, after.first) {
		for _, b := range allowed(after.op, after.second) {
			if before.has(a, b) && !after.has(a, b) {
				c.breaks("%s and %s need the same dtype now", before.first.Name, before.second.Name)
				return
			}
		}
	}
}

// follows compares a result with an input: what the result is where the input is what it could be before. Where both have dtypes
// of their own in both states, another input or an attribute decides.
func (c *comparison) follows(before, after pair) {
	input, result := before.first.Name, before.second.Name
	if !before.tied() && !after.tied() && before.second.Type.Var != "" && after.second.Type.Var != "" {
		return
	}
	for _, a := range allowed(before.op, before.first) {
		for _, b := range reached(before.op, after.op, after.second) {
			switch {
			case !after.has(a, b) || before.has(a, b):
			case before.tied():
				c.breaks("%s has not the dtype of %s any more", result, input)
				return
			default:
				c.breaks("%s is %s now where %s is %s", result, b, input, a)
				return
			}
		}
	}
}

// reached are the dtypes that a result has in calls that worked before: those of the input that decides.
func reached(old, op *opdef.Op, result opdef.Arg) []string {
	for _, in := range op.Inputs {
		if was, ok := named(old.Inputs, in.Name); ok && result.Type.Var != "" && in.Type.Var == result.Type.Var {
			return allowed(old, was)
		}
	}
	return allowed(op, result)
}

// allowed are the dtypes that an argument may have.
func allowed(op *opdef.Op, a opdef.Arg) []string {
	if a.Type.Var == "" {
		return []string{a.Type.DType}
	}
	for _, v := range op.DTypes {
		if v.Name == a.Type.Var {
			return v.OneOf
		}
	}
	return nil
}
