package e2e

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/dtype"
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
		fmt.Fprintf(&b, "require = [%q]\n", op.requires[0])
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
			results = append(results, fmt.Sprintf("%s.reshape(rows if %s else 1, -1)[:, ::-1].reshape(%s.shape) if %s.size else %s",
				a.name, python01(a.star), a.name, a.name, a.name))
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

// cpp is the op's kernel.
func (op *randomOp) cpp(spoilt bool) string {
	var b strings.Builder
	name := strings.ToUpper(op.name[:1]) + strings.ReplaceAll(op.name[1:], "_grad", "Grad")
	fmt.Fprintf(&b, "#include \"%s.gen.h\"\n#include \"random_ops.h\"\n\nnamespace ops {\n\n", op.name)
	fmt.Fprintf(&b, "opcast::Status %s(const %sArgs& args, const opcast::Launch&) {\n", name, name)
	b.WriteString("  const int64_t rows = " + map[bool]string{true: "args.batch", false: "1"}[op.star] + ";\n  (void)rows;\n")
	if op.scratch {
		fmt.Fprintf(&b, "  std::memset(args.space, 0x5a, static_cast<size_t>(%s + 1));\n", op.inputs[0].elements())
	}
	for i := range op.inputs {
		op.read(&b, &op.inputs[i])
	}
	for i := range op.outputs {
		a := &op.outputs[i]
		fmt.Fprintf(&b, "  %s\n", op.cppOf(a, name))
		if spoilt && i == 0 {
			fmt.Fprintf(&b, "  fit::Spoil(args.%s, %s * %s, %s);\n", a.name, rowsOf(a), a.elements(), op.tag(a.dtype))
		}
	}
	for _, a := range op.inputs {
		if a.mutated {
			fmt.Fprintf(&b, "  fit::Reverse(args.%s, %s%s);\n", a.name, a.name, op.layout(&a))
			if spoilt && len(op.outputs) == 0 {
				fmt.Fprintf(&b, "  fit::Spoil(args.%s, %s.bytes.empty() ? 0 : 1, %s);\n", a.name, a.name, op.tag(a.dtype))
				spoilt = false
			}
		}
	}
	return b.String() + "  return opcast::Status::Ok();\n}\n\n}  // namespace ops\n"
}

func rowsOf(a *randomArg) string {
	if a.star {
		return "rows"
	}
	return "int64_t{1}"
}

// elements is the number of elements of a row in C++.
func (a *randomArg) elements() string {
	text := "int64_t{1}"
	for j := range a.dims {
		text += fmt.Sprintf(" * args.%s_%d", a.name, j)
	}
	return "(" + text + ")"
}

// tag is a dtype in C++.
func (op *randomOp) tag(name string) string {
	if op.vars[name] != nil {
		return "args." + name
	}
	return "opcast::DType::" + dtype.Must(name).Enumerator()
}

func (op *randomOp) layout(a *randomArg) string {
	if strings.Contains(a.keys, "stride") {
		return ", &args." + a.name + "_layout"
	}
	return ""
}

// read makes an input dense.
func (op *randomOp) read(b *strings.Builder, a *randomArg) {
	read := fmt.Sprintf("fit::Read(args.%s, %s, %s, %s%s)", a.name, rowsOf(a), a.elements(), op.tag(a.dtype), op.layout(a))
	if a.optional {
		read = fmt.Sprintf("args.%s == nullptr ? fit::Rows{} : %s", a.name, read)
	}
	fmt.Fprintf(b, "  const fit::Rows %s = %s;\n  (void)%s;\n", a.name, read, a.name)
}

// cppOf is the statement that makes an output.
func (op *randomOp) cppOf(a *randomArg, name string) string {
	switch size := rowsOf(a) + ", " + a.elements(); a.rule {
	case "number":
		number := op.number(func(attr randomAttr) string {
			switch at := "args." + attr.name; attr.use {
			case "flag":
				return "(" + at + " ? 1 : 0)"
			case "choice":
				return fmt.Sprintf("(%s == %sA%s::kOne ? 1 : 0)", at, name, attr.name[1:])
			case "pair":
				return at + "[0]"
			case "number", "size":
				return "(" + at + " % 5 + 5) % 5"
			}
			return ""
		})
		return fmt.Sprintf("fit::Fill(args.%s, %s * %s, %s, 1 << (%s) %% 3);", a.name, rowsOf(a), a.elements(), op.tag(a.dtype), number)
	case "copy":
		if a.present != "" {
			return fmt.Sprintf("if (args.%s != nullptr) fit::Copy(args.%s, %s, %s);", a.name, a.name, size, a.from)
		}
		return fmt.Sprintf("fit::Copy(args.%s, %s, %s);", a.name, size, a.from)
	case "scale":
		return fmt.Sprintf("fit::Scale(args.%s, %s, %s, args.a0);", a.name, a.from, op.tag(a.dtype))
	case "marks":
		return fmt.Sprintf("fit::Copy(args.%s, %s, fit::Marks(%s, %s));", a.name, size, a.from, op.tag(a.dtype))
	case "gather":
		return fmt.Sprintf("fit::Copy(args.%s, %s, fit::Gather(%s, %s));", a.name, size, a.from, a.other)
	}
	panic(a.rule)
}
