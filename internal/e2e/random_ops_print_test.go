package e2e

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// toml is the text of the op's definition.
func (op *randomOp) toml() string {
	var b strings.Builder
	fmt.Fprintf(&b, "doc = \"Made up.\"\nkind = %d\n", op.kind)
	for _, v := range slices.Sorted(maps.Keys(op.vars)) {
		fmt.Fprintf(&b, "dtypes.%s = [\"%s\"]\n", v, strings.Join(op.vars[v], `", "`))
	}
	b.WriteString("inputs = [\n")
	for _, a := range op.inputs {
		if a.optional {
			a.keys += ", optional = true"
		}
		fmt.Fprintf(&b, "  { name = %q, type = %q, doc = \"An input.\"%s },\n", a.name, a.kind(), a.keys)
	}
	b.WriteString("]\nattrs = [\n")
	for _, a := range op.attrs {
		fmt.Fprintf(&b, "  { name = %q, doc = \"An attribute.\", type = %s },\n", a.name, a.keys)
	}
	b.WriteString("]\noutputs = [\n")
	for _, a := range op.outputs {
		if a.present != "" {
			a.keys += fmt.Sprintf(", present_if = %q", a.present)
		}
		fmt.Fprintf(&b, "  { name = %q, type = %q, doc = \"A result.\"%s },\n", a.name, a.kind(), a.keys)
	}
	b.WriteString("]\n")
	for _, line := range slices.Concat(op.lets, op.namedDims()) {
		b.WriteString(line + "\n")
	}
	if len(op.requires) > 0 {
		fmt.Fprintf(&b, "require = [\"%s\"]\n", strings.Join(op.requires, `", "`))
	}
	if len(op.parallel) > 0 {
		fmt.Fprintf(&b, "parallel = [%q]\n", op.parallel[0])
	}
	if op.scratch {
		b.WriteString("scratch = [{ name = \"space\", type = \"u8[" + op.inputs[0].size() + " + 1]\" }]\n")
	}
	if op.backward != "" {
		fmt.Fprintf(&b, "backward = %q\n", op.backward)
	}
	return b.String() + "reference = '''\n" + op.reference() + "'''\n"
}

// size is the number of elements in a row.
func (a *randomArg) size() string {
	if len(a.dims) == 0 {
		return "1"
	}
	return "(" + strings.Join(a.dims, ")*(") + ")"
}

// namedDims are lets for the sizes that the reference needs: it knows lets, and no dims.
func (op *randomOp) namedDims() (lets []string) {
	for _, a := range slices.Concat(op.inputs, op.outputs) {
		for j, dim := range a.dims {
			lets = append(lets, fmt.Sprintf("let.%s_%d = %q", a.name, j, dim))
		}
	}
	return lets
}

// number is what a "number" output holds: it follows from the attributes.
func (op *randomOp) number(choice func(a randomAttr) string) string {
	terms := []string{"0"}
	for _, a := range op.attrs {
		if term := choice(a); term != "" {
			terms = append(terms, term)
		}
	}
	return strings.Join(terms, " + ")
}

const referenceHead = `
def fit(a, rowed, shape, to_rowed):
    old, new = rows if rowed else 1, rows if to_rowed else 1
    size = int(xp.prod(shape, dtype=int)) // new if new else 0
    width = a.size // old if old else 0
    if not (width and size and new):
        return xp.zeros(shape, a.dtype)
    a = a.reshape(old, width)
    if not (rowed and to_rowed):
        a = xp.repeat(a[:1], new, axis=0)
    return a[:, xp.arange(size) % width].reshape(shape)

`

func (op *randomOp) reference() string {
	var b strings.Builder
	first := op.inputs[0]
	b.WriteString("lead = ()\n")
	if op.star {
		fmt.Fprintf(&b, "lead = %s.shape[:%s.ndim - %d]\n", first.name, first.name, len(first.dims))
	}
	b.WriteString("rows = int(xp.prod(lead, dtype=int))\n" + referenceHead)
	var results []string
	for i := range op.outputs {
		a := &op.outputs[i]
		shape := "("
		if a.star {
			shape = "(*lead, "
		}
		for j := range a.dims {
			shape += fmt.Sprintf("%s_%d, ", a.name, j)
		}
		if shape += ")"; a.present != "" {
			shape = a.present + ".shape"
		}
		results = append(results, op.pythonOf(a, shape))
	}
	for _, a := range op.inputs {
		if a.mutated {
			reversed := fmt.Sprintf("%s.reshape(rows if %s else 1, -1)[:, ::-1].reshape(%s.shape) if %s.size else %s",
				a.name, python01(a.star), a.name, a.name, a.name)
			if a.optional {
				reversed = fmt.Sprintf("None if %s is None else (%s)", a.name, reversed)
			}
			results = append(results, reversed)
		}
	}
	if len(results) == 1 {
		return b.String() + "return " + results[0] + "\n"
	}
	return b.String() + "return (\n    " + strings.Join(results, ",\n    ") + ",\n)\n"
}

func python01(b bool) string {
	if b {
		return "True"
	}
	return "False"
}

// input is the input of this name.
func (op *randomOp) input(name string) *randomArg {
	i := slices.IndexFunc(op.inputs, func(a randomArg) bool { return a.name == name })
	return &op.inputs[i]
}

// pythonOf is an output in the reference.
func (op *randomOp) pythonOf(a *randomArg, shape string) string {
	if a.rule == "number" {
		number := op.number(func(a randomAttr) string {
			switch a.use {
			case "flag":
				return "int(" + a.name + ")"
			case "choice":
				return "int(" + a.name + ` == "One")`
			case "pair":
				return a.name + "[0]"
			case "number", "size":
				return a.name + " % 5"
			case "maybe number":
				return "(1 if " + a.name + " is None else " + a.name + " % 5)"
			case "maybe":
				return "int(" + a.name + " is None)"
			case "maybe choice":
				return "int(" + a.name + ` == "One")`
			case "list":
				return "len(" + a.name + ")"
			}
			return ""
		})
		return fmt.Sprintf("xp.full(%s, [1, 2, 4][(%s) %% 3])", shape, number)
	}
	from := op.input(a.from)
	copied := fmt.Sprintf("fit(%s, %s, %s, %s)", a.from, python01(from.star), shape, python01(a.star))
	switch a.rule {
	case "copy":
		if a.present != "" {
			return fmt.Sprintf("None if %s is None else %s", a.present, a.present)
		}
		return copied
	case "scale":
		return a.from + " * a0"
	case "marks":
		return fmt.Sprintf("xp.where(fit(%s != 0, %s, %s, %s), 1, 0)", a.from, python01(from.star), shape, python01(a.star))
	case "gather":
		return fmt.Sprintf("%s[..., %s]", a.from, a.other)
	}
	panic(a.rule)
}
