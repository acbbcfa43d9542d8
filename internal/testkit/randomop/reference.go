package randomop

import (
	"fmt"
	"slices"
	"strings"
)

// referenceHead has what the results are made of. Copies repeat the elements of each row, or of the only one.
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

const polynomialHead = `
def total(full, rowed, kept):
    full = xp.broadcast_to(full, (*lead, *space))
    drop = [] if rowed else list(range(len(lead)))
    drop += [len(lead) + i for i, keep in enumerate(kept) if not keep]
    return full.sum(axis=tuple(drop)) if drop else full

`

const selectHead = `
def select(x, marks):
    kept = x[marks != 0]
    return xp.concatenate([kept, xp.zeros_like(x[len(kept):])])

`

// reference is the body of the Python function.
func (op *Op) reference() string {
	var b strings.Builder
	op.leads(&b)
	b.WriteString("rows = int(xp.prod(lead, dtype=int))\n")
	uses := func(rules ...string) bool {
		return slices.ContainsFunc(op.outputs, func(a arg) bool { return slices.Contains(rules, a.rule) })
	}
	if uses("copy", "marks") {
		b.WriteString(referenceHead)
	}
	if uses("polynomial") {
		space := ""
		for j := range op.space {
			space += fmt.Sprintf("space_%d, ", j)
		}
		b.WriteString("space = (" + space + ")\n" + polynomialHead)
	}
	if uses("select") {
		b.WriteString(selectHead)
	}
	var results []string
	for _, a := range op.results() {
		results = append(results, op.pythonOf(a))
	}
	if len(results) == 1 {
		return b.String() + "return " + results[0] + "\n"
	}
	return b.String() + "return (\n    " + strings.Join(results, ",\n    ") + ",\n)\n"
}

// leads finds the leading dims. Inputs that are broadcast get all of them.
func (op *Op) leads(b *strings.Builder) {
	b.WriteString("lead = ()\n")
	for _, in := range op.inputs {
		switch trailing := fmt.Sprintf("%s.ndim - %d", in.name, len(in.dims)); {
		case !in.lead:
		case op.lead == "..." && in.optional:
			fmt.Fprintf(b, "if %s is not None:\n    lead = xp.broadcast_shapes(lead, %s.shape[:%s])\n", in.name, in.name, trailing)
		case op.lead == "...":
			fmt.Fprintf(b, "lead = xp.broadcast_shapes(lead, %s.shape[:%s])\n", in.name, trailing)
		case !in.optional:
			fmt.Fprintf(b, "lead = %s.shape[:%s]\n", in.name, trailing)
			return
		}
	}
	for _, in := range op.inputs {
		if in.lead && op.lead == "..." {
			fmt.Fprintf(b, "%s = %s if %s is None else xp.broadcast_to(%s, lead + %s.shape[%s.ndim - %d:])\n",
				in.name, in.name, in.name, in.name, in.name, in.name, len(in.dims))
		}
	}
}

func python01(b bool) string {
	if b {
		return "True"
	}
	return "False"
}

// pythonOf is a result in the reference.
func (op *Op) pythonOf(a *arg) string {
	shape := "("
	if a.lead {
		shape = "(*lead, "
	}
	for j := range a.dims {
		shape += fmt.Sprintf("%s_%d, ", a.name, j)
	}
	shape += ")"
	switch text := op.pythonRule(a, shape); {
	case a.flag != "":
		return fmt.Sprintf("(%s) if %s else None", text, a.flag)
	case a.present != "":
		return fmt.Sprintf("None if %s is None else (%s)", a.present, text)
	case a.mutated && a.optional:
		return fmt.Sprintf("None if %s is None else (%s)", a.name, text)
	default:
		return text
	}
}

func (op *Op) pythonRule(a *arg, shape string) string {
	fit := func(from string) string {
		rowed := op.input(a.from).lead
		return fmt.Sprintf("fit(%s, %s, %s, %s)", from, python01(rowed), shape, python01(a.lead))
	}
	switch a.rule {
	case "number", "refill":
		return fmt.Sprintf("xp.full(%s, [1, 2, 4][(%s) %% 3])", shape, op.number(pythonNumber))
	case "reverse":
		return fmt.Sprintf("%s.reshape(rows if %s else 1, -1)[:, ::-1].reshape(%s.shape) if %s.size else %s", a.name, python01(a.lead), a.name, a.name, a.name)
	case "copy":
		if a.present != "" || a.packs != "" {
			return a.from
		}
		return fit(a.from)
	case "marks":
		return "xp.where(" + fit(a.from+" != 0") + ", 1, 0)"
	case "gather":
		return fmt.Sprintf("%s[..., %s]", a.from, a.by)
	case "select":
		return fmt.Sprintf("select(%s, %s)", a.from, a.by)
	case "count":
		return fmt.Sprintf("xp.full(%s, xp.count_nonzero(%s))", shape, a.from)
	case "each":
		return fmt.Sprintf("list(%s)", a.from)
	case "flip":
		return fmt.Sprintf("[x.reshape(-1)[::-1].reshape(x.shape) for x in %s]", a.name)
	case "join":
		return fmt.Sprintf("xp.concatenate(%s)", a.from)
	case "lengths":
		return fmt.Sprintf("xp.array([len(x) for x in %s])", a.from)
	case "polynomial":
		return fmt.Sprintf("total(%s, %s, %s)", op.pythonTerms(a), python01(a.lead), op.pythonMask(a))
	}
	panic(a.rule)
}

// pythonMask says which sizes of the space an argument has.
func (op *Op) pythonMask(a *arg) string {
	mask := "("
	for _, name := range op.space {
		mask += python01(slices.Contains(a.dims, name)) + ", "
	}
	return mask + ")"
}

// pythonTerms is the sum of terms; one with an absent input is zero.
func (op *Op) pythonTerms(a *arg) string {
	sum := "0.0"
	for _, t := range a.terms {
		product, absent := fmt.Sprint(t.factor), ""
		if t.times {
			product += " * a0"
		}
		for _, name := range t.of {
			in, index := op.input(name), "..."
			for _, size := range op.space {
				index += map[bool]string{true: ", :", false: ", None"}[slices.Contains(in.dims, size)]
			}
			product += fmt.Sprintf(" * %s[%s]", name, index)
			if in.optional {
				absent += name + " is None or "
			}
		}
		if absent != "" {
			product = "(0.0 if " + strings.TrimSuffix(absent, " or ") + " else " + product + ")"
		}
		sum += " + " + product
	}
	return sum
}

func pythonNumber(a attr) string {
	switch a.use {
	case "flag":
		return "int(" + a.name + ")"
	case "choice", "maybe choice":
		return "int(" + a.name + ` == "One")`
	case "pair":
		return a.name + "[0]"
	case "number", "size":
		return a.name + " % 5"
	case "maybe number":
		return "(1 if " + a.name + " is None else " + a.name + " % 5)"
	case "maybe":
		return "int(" + a.name + " is None)"
	case "list", "text":
		return "len(" + a.name + ")"
	}
	return ""
}
