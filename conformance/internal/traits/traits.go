// Package traits tells which parts of the definition language an op uses. What follows from these alone, such as how a
// generated function maps over a batch, need not be tried with every op of a collection: a few ops that together have all
// traits show as much.
package traits

import (
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/expr"
)

// trait is one part of the language, and whether something uses it.
type trait struct {
	name string
	has  bool
}

// names are those of the traits that are there.
func names(list ...trait) []string {
	var out []string
	for _, t := range list {
		if t.has {
			out = append(out, t.name)
		}
	}
	return out
}

// Of lists the traits of an op, each once. Those of the arguments of an op with a gradient are others than those of an op
// without: other generated code handles them.
func Of(op *opdef.Op) []string {
	suffix := ""
	if op.Gradient != nil {
		suffix = " of an op with a gradient"
	}
	var out []string
	add := func(prefix, suffix string, names []string) {
		for _, name := range names {
			if name = prefix + name + suffix; !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	for i, in := range op.Inputs {
		add("input: ", suffix, append(ofArg(op, in), ofInput(in, i)...))
	}
	for _, result := range op.Outputs {
		add("output: ", suffix, append(ofArg(op, result), ofOutput(result)...))
	}
	for _, a := range op.Attrs {
		add("attribute: ", "", ofAttr(a))
	}
	for _, row := range ofOp {
		add("", "", names(trait{row.name, row.has(op)}))
	}
	return out
}

// ofArg are the traits that inputs and outputs share.
func ofArg(op *opdef.Op, a opdef.Arg) []string {
	list := []trait{
		{"a dtype of its own", a.Type.Var == ""},
		{"scalar", len(a.Type.Dims) == 0},
		{"list", a.List},
		{"log-sum-exp", a.LSE != nil},
	}
	for _, kind := range []string{"bool", "u", "i", "f8"} {
		of := func(name string) bool { return strings.HasPrefix(name, kind) }
		list = append(list, trait{"dtype " + kind, slices.ContainsFunc(op.Allowed(a), of)})
	}
	for _, d := range a.Type.Dims {
		constant := d.Expr != nil && d.Expr.Op == expr.OpConst
		list = append(list, trait{"leading dims " + d.Text(), d.Leading()}, trait{"constant dim", constant},
			trait{"arithmetic in a dim", !d.Leading() && !d.Plain() && !constant})
	}
	return names(list...)
}

func ofInput(in opdef.Arg, place int) []string {
	return names(
		trait{"optional", in.Optional},
		trait{"overwritten", in.Mutated},
		trait{"overwritten, not the first", in.Mutated && place > 0},
		trait{"optional and overwritten", in.Mutated && in.Optional},
		trait{"stride " + in.Stride, in.Stride != ""},
		trait{"range", in.Min != nil || in.Max != nil},
		trait{"sorted", in.Sorted},
		trait{"packed", in.Packs != ""},
	)
}

func ofOutput(a opdef.Arg) []string {
	return names(trait{"saved", a.Saved}, trait{"present if", a.PresentIf != ""}, trait{"valid rows", a.Valid != ""}, trait{"packed", a.Packs != ""})
}

func ofAttr(a opdef.Attr) []string {
	return names(
		trait{"type " + a.Type, true},
		trait{"optional " + a.Type, a.Optional},
		trait{"computed default", a.DefaultExpr != nil},
		trait{"required", !a.HasDefault},
		trait{"range", a.Min != nil || a.Max != nil || len(a.Among) > 0},
	)
}

// ofOp has a row for each trait that belongs to no argument.
var ofOp = []struct {
	name string
	has  func(op *opdef.Op) bool
}{
	{"no outputs", func(op *opdef.Op) bool { return len(op.Outputs) == 0 }},
	{"several results", func(op *opdef.Op) bool { return len(op.Results()) > 1 }},
	{"several dtype variables", func(op *opdef.Op) bool { return len(op.DTypes) > 1 }},
	{"no dtype variable", func(op *opdef.Op) bool { return len(op.DTypes) == 0 }},
	{"conditions", func(op *opdef.Op) bool { return len(op.Requires) > 0 }},
	{"scratch", func(op *opdef.Op) bool { return len(op.Scratch) > 0 }},
	{"parallel dims", func(op *opdef.Op) bool { return len(op.Parallel) > 0 }},
	{"sums", func(op *opdef.Op) bool { return len(op.Sums) > 0 }},
	{"sums and parallel dims", func(op *opdef.Op) bool { return len(op.Sums) > 0 && len(op.Parallel) > 0 }},
	{"gradient", func(op *opdef.Op) bool { return op.Gradient != nil }},
	{"is a gradient", func(op *opdef.Op) bool { return op.GradientOf != nil }},
	{"gradient of a gradient", func(op *opdef.Op) bool { return op.GradientOf != nil && op.Gradient != nil }},
	{"tangents", func(op *opdef.Op) bool { return op.Tangent != nil }},
	{"gives tangents", func(op *opdef.Op) bool { return op.TangentOf != nil }},
	{"autocast lower", func(op *opdef.Op) bool { return op.Autocast == "lower" }},
	{"autocast float32", func(op *opdef.Op) bool { return op.Autocast == "float32" }},
	{"not deterministic", func(op *opdef.Op) bool { return !op.Deterministic }},
	{"deprecated", func(op *opdef.Op) bool { return op.Deprecated != "" }},
}
