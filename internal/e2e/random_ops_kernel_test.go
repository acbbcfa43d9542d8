package e2e

import (
	"fmt"
	"strings"

	"github.com/opcast/opcast/internal/dtype"
)

// cpp is the op's kernel.
func (op *randomOp) cpp(spoilt bool) string {
	var b strings.Builder
	name := strings.ToUpper(op.name[:1]) + strings.ReplaceAll(op.name[1:], "_grad", "Grad")
	fmt.Fprintf(&b, "#include \"%s.gen.h\"\n#include \"random_ops.h\"\n\nnamespace demo_ops {\n\n", op.name)
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
			reverse := fmt.Sprintf("fit::Reverse(args.%s, %s%s);", a.name, a.name, op.layout(&a))
			if a.optional {
				reverse = "if (args." + a.name + " != nullptr) " + reverse
			}
			fmt.Fprintf(&b, "  %s\n", reverse)
			if spoilt && len(op.outputs) == 0 {
				fmt.Fprintf(&b, "  fit::Spoil(args.%s, %s.bytes.empty() ? 0 : 1, %s);\n", a.name, a.name, op.tag(a.dtype))
				spoilt = false
			}
		}
	}
	return b.String() + "  return opcast::Status::Ok();\n}\n\n}  // namespace demo_ops\n"
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
			case "maybe number":
				return "(" + at + " ? (*" + at + " % 5 + 5) % 5 : 1)"
			case "maybe":
				return "(" + at + " ? 0 : 1)"
			case "maybe choice":
				return fmt.Sprintf("(%s && *%s == %sA%s::kOne ? 1 : 0)", at, at, name, attr.name[1:])
			case "list":
				return "static_cast<int64_t>(" + at + ".size())"
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
