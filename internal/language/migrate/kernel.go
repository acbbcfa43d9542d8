package migrate

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/language/opdef/names"
)

// kernelPath is where a kernel is written if nothing else lies there.
func (o *op) kernelPath(name string) string {
	return "csrc/" + o.fn.Device + "/" + name + map[string]string{"cpu": ".cc", "cuda": ".cu", "rocm": ".hip"}[o.fn.Device]
}

// placeKernels gives each kernel a file. One with the op's name may hold the author's function, which stays there.
func placeKernels(ops []*op, p Project) {
	used := map[string]bool{}
	for _, o := range ops {
		if path := o.kernelPath(o.name); p.Taken == nil || !p.Taken(path, o.name) {
			o.file, used[path] = path, true
		}
	}
	for _, o := range ops {
		for i := 1; o.file == ""; i++ {
			name := o.name + "_op"
			if i > 1 {
				name = fmt.Sprintf("%s_op_%d", o.name, i)
			}
			if path := o.kernelPath(name); !used[path] && !p.Taken(path, o.name) {
				o.file, used[path] = path, true
				o.notes = append(o.notes, fmt.Sprintf("its kernel is %s: %s exists", path, o.kernelPath(o.name)))
			}
		}
	}
}

var framework = regexp.MustCompile(`(?m)^\s*#\s*include\s*[<"](torch|ATen|c10|pybind11|Python\.h)`)

// callable decides whether the kernel can call the author's function, or says why not.
func (o *op) callable(files []Source, devices []string) {
	c, meant := o.fn.C, o.fn.Device
	o.fn.Device = among(devices, meant)
	switch {
	case meant != "cpu" && o.fn.Device == "cpu":
		o.why = "it is for " + meant + ", which opcast.toml does not name"
	case c == nil:
		o.why = "a kernel gets pointers and sizes, no tensors"
	case o.why != "":
	case c.untyped:
		o.why = "its template has parameters that are no types"
	case includesFramework(files, c.file.Name):
		o.why = c.file.Name + " includes a framework, and kernels include none"
	default:
		for _, p := range c.params {
			if p.Optional || p.Kind == DType || p.Kind == Ints || p.Kind == List || p.Kind == Array && !p.Pointer {
				o.why = fmt.Sprintf("its parameter %s has the type %s", p.Name, p.Type)
			}
			if p.Pointer && (p.alias || strings.Contains(p.Type, "::")) && !isHeader(c.file.Name) {
				o.why = fmt.Sprintf("%s declares it, and is no header that knows %s", c.file.Name, p.Type)
			}
		}
	}
}

// among is the device of a project for what is meant for one: what is not known to be for GPUs is for the CPU only if kernels for that
// are wanted, and GPUs' sources are alike.
func among(devices []string, meant string) string {
	for _, device := range map[string][]string{"cpu": {"cpu"}, "cuda": {"cuda", "rocm"}, "rocm": {"cuda", "rocm"}}[meant] {
		if slices.Contains(devices, device) {
			return device
		}
	}
	return devices[0]
}

func includesFramework(files []Source, name string) bool {
	return slices.ContainsFunc(files, func(s Source) bool { return s.Name == name && framework.MatchString(s.Text) })
}

// source is the file that has the function's body, "" if it is not known or the kernel includes it.
func (o *op) source() string {
	for _, d := range o.fn.C.others {
		if d.body && !isHeader(d.file.Name) && d.shape() == o.fn.C.shape() {
			return d.file.Name
		}
	}
	if len(o.fn.C.template) == 0 && isHeader(o.fn.C.file.Name) && !o.fn.C.body {
		o.notes = append(o.notes, "add the file that defines "+o.fn.C.name+" to sources in opcast.toml")
	}
	return ""
}

// kernel is the kernel as a file.
func (o *op) kernel(namespace string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "// A draft from %s, line %d:\n//\n//   %s\n//\n", oneLine(o.fn.File), o.fn.Line, oneLine(o.fn.Written))
	if o.why != "" {
		fmt.Fprintf(&b, "// It calls nothing yet: %s. backend/gen/%s.gen.h says what args has.\n", oneLine(o.why), o.name)
	} else {
		b.WriteString("// It calls that function. Decide which sizes are meant, and whether an error can come back.\n")
	}
	if o.why == "" {
		if header := map[string]string{"cuda": "cuda_runtime.h", "rocm": "hip/hip_runtime.h"}[o.fn.Device]; header != "" {
			b.WriteString("#include <" + header + ">\n\n")
		}
		if c := o.fn.C; isHeader(c.file.Name) {
			up := strings.Repeat("../", strings.Count(o.file, "/"))
			fmt.Fprintf(&b, "#include \"%s%s\"\n", up, path.Clean(c.file.Name))
		}
	}
	fmt.Fprintf(&b, "#include \"%s.gen.h\"\n\n", o.name)
	if o.why == "" && !isHeader(o.fn.C.file.Name) {
		b.WriteString(o.fn.C.declared())
	}
	fmt.Fprintf(&b, "namespace %s {\n\n", namespace)
	if o.why != "" {
		b.WriteString(unwritten(names.Pascal(o.name), fmt.Sprintf("%s is a draft: let it do what %s of %s, line %d, does",
			o.file, cppText(o.fn.Name), cppText(o.fn.File), o.fn.Line)))
	} else {
		b.WriteString(o.calling())
	}
	fmt.Fprintf(&b, "\n}  // namespace %s\n", namespace)
	return b.String()
}

// unwritten is a kernel's function that raises an error.
func unwritten(function, message string) string {
	return fmt.Sprintf("opcast::Status %s(const %[1]sArgs&, const opcast::Launch&) {\n  return opcast::Status::Error(\"%s\");\n}\n", function, message)
}

// Unwritten is the file of a kernel that does nothing yet, for an op whose definition comes from elsewhere.
func Unwritten(op, function, file, namespace string) string {
	return fmt.Sprintf("// A draft. backend/gen/%s.gen.h says what args has.\n#include \"%[1]s.gen.h\"\n\nnamespace %s {\n\n%s\n}  // namespace %[2]s\n",
		op, namespace, unwritten(function, file+" is a draft: let it do what the reference does"))
}

// cppText is a text within a string of C++.
func cppText(s string) string { return strings.ReplaceAll(oneLine(s), `"`, "'") }

// declared is the declaration of a function that no header declares.
func (c *cFunction) declared() string {
	line := c.declaration + ";\n"
	if len(c.template) > 0 {
		line = "template <class " + strings.Join(c.template, ", class ") + ">\n" + line
	}
	if c.externC {
		line = `extern "C" ` + line
	}
	if len(c.scope) == 0 {
		return line + "\n"
	}
	return "namespace " + strings.Join(c.scope, "::") + " {\n" + line + "}\n\n"
}

// calling is the kernel's function, which calls the author's.
func (o *op) calling() string {
	c := o.fn.C
	launch := ""
	if slices.ContainsFunc(c.params, func(p Param) bool { return p.Kind == Stream }) {
		launch = " launch"
	}
	args, indent, types := "args", "  ", ""
	var b strings.Builder
	fmt.Fprintf(&b, "opcast::Status %s(const %[1]sArgs& args, const opcast::Launch&%s) {\n", names.Pascal(o.name), launch)
	if len(c.template) > 0 {
		var list []string
		for _, param := range c.template {
			list = append(list, o.typeOf(param))
		}
		types = "<" + strings.Join(list, ", ") + ">"
	}
	visits := strings.Contains(types, "typename")
	if visits {
		b.WriteString("  return Visit(args, [&](const auto& a) {\n")
		args, indent = "a", "    "
	}
	var list []string
	for i, p := range c.params {
		list = append(list, o.passed(args+"."+o.members[i], p))
	}
	b.WriteString(finish(indent, c, c.called()+types+"("+strings.Join(list, ", ")+")", o.fn.Device))
	if visits {
		b.WriteString("  });\n")
	}
	return b.String() + "}\n"
}

// typeOf is a parameter of the author's template in a call.
func (o *op) typeOf(param string) string {
	for _, v := range o.dtypes {
		if v.wanted == param {
			return "typename std::decay_t<decltype(a)>::" + v.name
		}
	}
	return "float"
}

// finish is the call and what becomes of its result.
func finish(indent string, c *cFunction, call, device string) string {
	gpu := "cuda"
	if device == "rocm" {
		gpu = "hip"
	}
	checked := strings.ReplaceAll("if (const cudaError_t error = %s; error != cudaSuccess) return opcast::Status::Error(cudaGetErrorString(error));\n", "cuda", gpu)
	result := joined(c.result)
	lines := call + ";\n"
	switch {
	case result == gpu+"Error_t":
		lines = fmt.Sprintf(checked, call)
	case device != "cpu":
		lines += indent + fmt.Sprintf(checked, gpu+"GetLastError()")
	case result != "void":
		lines = "static_cast<void>(" + call + ");  // decide: what its " + oneLine(result) + " says\n"
	}
	return indent + lines + indent + "return opcast::Status::Ok();\n"
}

// plain are the types of elements that generated code has under the same name, or one that means the same.
var plain = []string{"float", "double", "int", "int32_t", "int64_t", "int8_t", "uint8_t", "void"}

// passed is an argument of the call.
func (o *op) passed(member string, p Param) string {
	base, _, _, _ := typeParts(lex(p.Type))
	switch {
	case p.Kind == Stream:
		return "static_cast<" + valueType(p.Type) + ">(launch.stream)"
	case p.Pointer && (slices.Contains(plain, base) || slices.Contains(o.fn.C.template, base)):
		return member
	case p.Pointer:
		return "reinterpret_cast<" + valueType(p.Type) + ">(" + member + ")"
	case p.Kind == Str && strings.Contains(p.Type, "*"):
		return "std::string(" + member + ").c_str()"
	case p.Kind == Str && base == "string":
		return "std::string(" + member + ")"
	case p.Kind == Int && base != "int64_t", p.Kind == Float && base != "double":
		return "static_cast<" + valueType(p.Type) + ">(" + member + ")"
	}
	return member
}

var qualifier = regexp.MustCompile(`\b(__restrict__|__restrict|restrict|volatile|__grid_constant__)\b|&`)

// valueType is a type to which a value can be cast.
func valueType(typ string) string {
	typ = strings.TrimSpace(qualifier.ReplaceAllString(typ, ""))
	if !strings.Contains(typ, "*") {
		typ = strings.TrimSpace(strings.ReplaceAll(typ, "const ", ""))
	}
	return strings.TrimSuffix(strings.TrimSpace(typ), " const")
}
