package randomop

import (
	"embed"
	"fmt"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/opdef/names"
)

// Headers have the functions that kernels call. They lie beside the sources.
//
//go:embed fit.h results.h
var Headers embed.FS

// FaultVariable is the environment variable with which a kernel has its fault: one build serves for right and wrong results.
const FaultVariable = "RANDOM_OPS_FAULT"

// CPP is the source of the op's kernels.
func (op *Op) CPP() string {
	var b strings.Builder
	name := names.Pascal(op.Name)
	fmt.Fprintf(&b, "#include \"%s.gen.h\"\n#include \"results.h\"\n\nnamespace demo_ops {\n\n", op.Name)
	fmt.Fprintf(&b, "static opcast::Status Run%s(const %sArgs& args, bool spoilt, bool scratch) {\n", name, name)
	fmt.Fprintf(&b, "  const int64_t rows = %s;\n  (void)rows, (void)spoilt, (void)scratch;\n", map[bool]string{true: "args.batch", false: "1"}[op.lead != ""])
	op.use(&b)
	for i := range op.inputs {
		if op.inputs[i].list == "" {
			op.read(&b, &op.inputs[i])
		}
	}
	for i, a := range op.results() {
		statement := op.cppOf(a, name)
		if a.optional || a.present != "" || a.flag != "" || a.saved {
			statement = "if (args." + a.name + " != nullptr) " + statement
		}
		fmt.Fprintf(&b, "  %s\n", statement)
		if i == op.spoilt && a.list != "" {
			b.WriteString("  if (spoilt) " + op.forLast(a) + "\n")
		} else if i == op.spoilt {
			fmt.Fprintf(&b, "  if (spoilt) fit::Spoil(args.%s, %s, %s);\n", a.name, op.spoilable(a), op.tag(a.dtype))
		}
	}
	b.WriteString("  return opcast::Status::Ok();\n}\n\n")
	op.entries(&b, name)
	return b.String() + "}  // namespace demo_ops\n"
}

// entries are the functions of the kernels, or of the only one.
func (op *Op) entries(b *strings.Builder, name string) {
	list := op.kernels
	if len(list) == 0 {
		list = []kernel{{name: op.Name, scratch: len(op.scratch) > 0}}
	}
	for _, k := range list {
		fault := "fit::Faulty()"
		if op.only != "" && op.only != k.name {
			fault = "false"
		}
		function := names.Pascal(k.name)
		parameter := ""
		if len(k.params) > 0 {
			parameter, fault = ", const "+function+"Params& params", "("+fault+" || "+k.strange()+")"
		}
		fmt.Fprintf(b, "opcast::Status %s(const %sArgs& args, const opcast::Launch&%s) {\n  return Run%s(args, %s, %t);\n}\n\n", function, name, parameter, name, fault, k.scratch)
		if k.even != "" {
			fmt.Fprintf(b, "const char* %sSupported(const %sArgs& args, const opcast::Launch&) {\n  return args.%s %% 2 == 0 ? nullptr : \"%s is odd\";\n}\n\n",
				function, name, k.even, k.even)
		}
		if k.workspace {
			fmt.Fprintf(b, "int64_t %sWorkspace(const %sArgs& args, const opcast::Launch&) {\n  return args.%s_size;\n}\n\n", function, name, op.scratch[0].name)
		}
	}
}

// strange is the condition under which the kernel has got parameters that it cannot have.
func (k *kernel) strange() string {
	var wrong []string
	for i, values := range k.params {
		var all []string
		for _, value := range values {
			all = append(all, fmt.Sprintf("params.p%d != %d", i, value))
		}
		wrong = append(wrong, "("+strings.Join(all, " && ")+")")
	}
	return strings.Join(wrong, " || ")
}

// use writes into the scratch. One that should begin as zeros and does not spoils the result.
func (op *Op) use(b *strings.Builder) {
	for _, s := range op.scratch {
		if s.zeroed {
			fmt.Fprintf(b, "  if (scratch && !fit::IsZero(args.%s, args.%s_size)) spoilt = true;\n", s.name, s.name)
		}
		fmt.Fprintf(b, "  if (scratch) std::memset(args.%s, 0x5a, static_cast<size_t>(args.%s_size));\n", s.name, s.name)
	}
}

// spoilable is how many elements of a result mean something: the fault is in the last one. Strides are not known here.
func (op *Op) spoilable(a *arg) string {
	switch {
	case a.mutated:
		return a.name + ".bytes.empty() ? 0 : 1"
	case a.rule == "select":
		return fmt.Sprintf("%s == 0 ? 0 : fit::Count(%s) * (%s / args.%s_0)", "args."+a.name+"_0", a.by, a.elements(), a.name)
	}
	return rowsOf(a) + " * " + a.elements()
}

func rowsOf(a *arg) string {
	if a.lead {
		return "rows"
	}
	return "int64_t{1}"
}

// elements is the number of elements of a row in C++.
func (a *arg) elements() string {
	text := "int64_t{1}"
	for j := range a.dims {
		text += fmt.Sprintf(" * args.%s_%d", a.name, j)
	}
	return "(" + text + ")"
}

// tag is a dtype in C++.
func (op *Op) tag(name string) string {
	if op.vars[name] != nil {
		return "args." + name
	}
	return "opcast::DType::" + dtype.Must(name).Enumerator()
}

// layout is the argument for the strides of an input, if it has any.
func (a *arg) layout() string {
	if a.strided() {
		return "&args." + a.name + "_layout"
	}
	return "nullptr"
}

// read makes an input dense, with a row for each leading index.
func (op *Op) read(b *strings.Builder, a *arg) {
	read := fmt.Sprintf("fit::Read(fit::Where(args.%s), %s, %s, %s, %s)", a.name, rowsOf(a), a.elements(), op.tag(a.dtype), a.layout())
	if a.lead && op.lead == "..." {
		read = fmt.Sprintf("fit::ReadLead(args.%s, rows, %s, %s, args.%s_lead, %s)", a.name, a.elements(), op.tag(a.dtype), a.name, a.layout())
	}
	if a.optional {
		read = fmt.Sprintf("fit::Where(args.%s) == nullptr ? fit::Rows{} : %s", a.name, read)
	}
	fmt.Fprintf(b, "  const fit::Rows %s = %s;\n  (void)%s;\n", a.name, read, a.name)
}

// cppOf is the statement that makes a result.
func (op *Op) cppOf(a *arg, name string) string {
	size := rowsOf(a) + ", " + a.elements()
	value := "1 << (" + op.number(func(attr attr) string { return cppNumber(attr, name) }) + ") % 3"
	switch a.rule {
	case "number":
		return fmt.Sprintf("fit::Fill(args.%s, %s * %s, %s, %s);", a.name, rowsOf(a), a.elements(), op.tag(a.dtype), value)
	case "refill":
		return fmt.Sprintf("fit::Write(args.%s, fit::Constant(%s, %s, %s), %s);", a.name, a.name, op.tag(a.dtype), value, a.layout())
	case "reverse":
		return fmt.Sprintf("fit::Write(args.%s, fit::Reversed(%s), %s);", a.name, a.name, a.layout())
	case "copy":
		return fmt.Sprintf("fit::Copy(args.%s, %s, %s);", a.name, size, a.from)
	case "marks":
		return fmt.Sprintf("fit::Copy(args.%s, %s, fit::Marks(%s, %s));", a.name, size, a.from, op.tag(a.dtype))
	case "gather":
		return fmt.Sprintf("fit::Copy(args.%s, %s, fit::Gather(%s, %s));", a.name, size, a.from, a.by)
	case "select":
		return fmt.Sprintf("fit::Select(args.%s, %s, %s);", a.name, a.from, a.by)
	case "count":
		return fmt.Sprintf("fit::Fill(args.%s, 1, %s, static_cast<int>(fit::Count(%s)));", a.name, op.tag(a.dtype), a.from)
	case "each", "flip", "join", "lengths":
		return op.cppOfList(a)
	case "polynomial":
		return op.cppPolynomial(a)
	}
	panic(a.rule)
}

// cppPolynomial is the statement that makes a sum of products.
func (op *Op) cppPolynomial(a *arg) string {
	space := "{rows"
	for j := range op.space {
		space += fmt.Sprintf(", args.space_%d", j)
	}
	terms := ""
	for _, t := range a.terms {
		factor := fmt.Sprintf("%d.0", t.factor)
		if t.times {
			factor += " * args.a0"
		}
		var of []string
		for _, name := range t.of {
			in := op.input(name)
			of = append(of, fmt.Sprintf("{%s, %s, %s, fit::Where(args.%s) != nullptr}", name, op.tag(in.dtype), op.cppMask(in), name))
		}
		terms += fmt.Sprintf("\n      {%s, {%s}},", factor, strings.Join(of, ", "))
	}
	return fmt.Sprintf("fit::Polynomial(args.%s, %s, %s, %s}, {%s});", a.name, op.tag(a.dtype), op.cppMask(a), space, terms)
}

// cppMask says whether an argument has leading dims, and which sizes of the space.
func (op *Op) cppMask(a *arg) string {
	mask := fmt.Sprint(a.lead)
	for _, name := range op.space {
		mask += fmt.Sprint(", ", slices.Contains(a.dims, name))
	}
	return "{" + mask + "}"
}

func cppNumber(a attr, name string) string {
	switch at := "args." + a.name; a.use {
	case "flag":
		return "(" + at + " ? 1 : 0)"
	case "choice":
		return fmt.Sprintf("(%s == %s%s::kOne ? 1 : 0)", at, name, names.Pascal(a.name))
	case "pair":
		return at + "[0]"
	case "number", "size":
		return "(" + at + " % 5 + 5) % 5"
	case "maybe number":
		return "(" + at + " ? (*" + at + " % 5 + 5) % 5 : 1)"
	case "maybe":
		return "(" + at + " ? 0 : 1)"
	case "maybe choice":
		return fmt.Sprintf("(%s && *%s == %s%s::kOne ? 1 : 0)", at, at, name, names.Pascal(a.name))
	case "list", "text":
		return "static_cast<int64_t>(" + at + ".size())"
	}
	return ""
}
