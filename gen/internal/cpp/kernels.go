package cpp

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/opcast/opcast/gen/internal/view"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/feature"
	"github.com/opcast/opcast/internal/language/rule"
)

// kernel is a variant as C++ sees it: the author's Function and the generated Supports, which is "" for a kernel that
// takes every call on its device.
type kernel struct {
	opdef.Kernel
	Function, Supports string
	// Chooser is the generated function that chooses parameters; "" where nothing was measured.
	Chooser string
}

// DLDevice is the kernel's device. Of two GPUs, it is that of the library.
func (k kernel) DLDevice() string {
	if len(k.Devices) > 1 {
		return "opcast::kGpu"
	}
	return "kDL" + strings.ToUpper(k.Devices[0])
}

// guard is the end of the macros that tell for which devices a library is built, or by which compilers.
func (k kernel) guard() string {
	both := len(k.Devices) > 1
	switch compiled := !k.TakenBy(opdef.CXX); {
	case compiled && both:
		return "COMPILED_GPU"
	case both:
		return "GPU"
	case compiled:
		return "COMPILED_" + strings.ToUpper(k.Devices[0])
	}
	return strings.ToUpper(k.Devices[0])
}

// Variants are the kernels of the op in dispatch order.
func (v *opView) Variants() []kernel {
	var out []kernel
	for _, k := range v.KernelList() {
		c := kernel{Kernel: k, Function: view.Pascal(k.Name)}
		if k.When != nil || len(k.DTypes) > 0 || k.Supported || len(c.ArchTests()) > 0 || len(k.Features) > 0 {
			c.Supports = "Supports" + c.Function
		}
		if len(v.TunedCalls(c)) > 0 {
			c.Chooser = "Choose" + c.Function
		}
		out = append(out, c)
	}
	return out
}

// Guard is the macro that keeps a function of the author only in libraries that are built for the kernel's device.
func (k kernel) Guard() string {
	if len(k.Features) > 0 {
		return "OPCAST_ON_X86_64"
	}
	return "OPCAST_ON_" + k.guard()
}

// Built is the condition of the preprocessor for that.
func (k kernel) Built() string {
	if len(k.Features) > 0 {
		return "OPCAST_CPU && defined(__x86_64__)"
	}
	return "OPCAST_" + k.guard()
}

// Row is the kernel's row in the table of variants of an op.
func (k kernel) Row(op string) string {
	row := fmt.Sprintf("opcast::Variant<%sArgs>(%q, %s, %s(%s))", op, k.Name, k.DLDevice(), k.Guard(), k.Launcher())
	if k.Supports != "" {
		row += ".Supported(" + k.Supports + ")"
	}
	if k.QueryWorkspace {
		row += ".Workspace(" + k.Guard() + "(" + k.WorkspaceFunction() + "))"
	}
	if k.Scratch {
		row += ".WithScratch()"
	}
	if len(k.Params) > 0 {
		row += fmt.Sprintf(".WithParams(%s, %s)", k.ParamsTable(), cmp.Or(k.Chooser, "nullptr"))
	}
	return row
}

var cudaArch = regexp.MustCompile(`^(\D*?) ?(\d+)[a-z]?$`)

// ArchTests are the conditions on the device's architecture, each with the words for what is wanted. A device of one vendor
// is not asked for what is wanted of the other's.
func (k kernel) ArchTests() (tests []field) {
	both := func(unasked, test string) string {
		if len(k.Devices) > 1 {
			return unasked + " || " + test
		}
		return test
	}
	if m := cudaArch.FindStringSubmatch(k.Arch); m != nil && k.On("cuda") {
		tests = append(tests, field{Name: k.Arch, Value: both("OPCAST_ROCM", "launch.arch "+cmp.Or(m[1], "==")+" "+m[2])})
	}
	var any []string
	for _, arch := range k.GFX {
		any = append(any, "launch.arch == 0x"+strings.TrimPrefix(arch, "gfx"))
	}
	if len(any) > 0 && k.On("rocm") {
		tests = append(tests, field{Name: rule.Or(k.GFX), Value: both("!OPCAST_ROCM", strings.Join(any, " || "))})
	}
	return tests
}

// FeatureTests are the conditions on the CPU, each with the author's name of the feature.
func (k kernel) FeatureTests() []field {
	var out []field
	for _, word := range k.Features {
		name, _ := feature.Lookup(word)
		out = append(out, field{Name: word, Value: fmt.Sprintf("OPCAST_CPU_HAS(%q)", name)})
	}
	return out
}

// Conditions are the tests of a variant: each must hold, else its text is the reason for no.
func (k kernel) Conditions(v *opView) []field {
	var out []field
	for _, d := range v.DTypes {
		allowed, narrowed := k.DTypes[d.Name]
		if !narrowed {
			continue
		}
		var tests []string
		for _, s := range allowed {
			tests = append(tests, "args."+d.Name+" == "+enumerator(s))
		}
		text := fmt.Sprintf("needs %s to be %s", d.Name, rule.Or(rule.Long(allowed)))
		out = append(out, field{Value: strings.Join(tests, " || "), Comment: text})
	}
	if k.When != nil {
		p := v.printer(func(s string) string { return "args." + s })
		out = append(out, field{Value: p.Print(unlike(k.When)), Comment: "needs " + k.When.Text})
	}
	return out
}

// ArrayRows are the rows of the table of arrays: outputs, then inputs.
func (v *opView) ArrayRows() []string {
	var out []string
	for _, a := range v.Outputs {
		role := "Output"
		if a.Saved {
			role = "Saved"
		}
		out = append(out, v.arrayRow(&a, role))
	}
	for _, a := range v.Inputs {
		role := "Input"
		if a.Mutated {
			role = "Mutated"
		}
		out = append(out, v.arrayRow(&a, role))
	}
	return out
}

func (v *opView) arrayRow(a *opdef.Arg, role string) string {
	row := fmt.Sprintf("opcast::Array::%s(%q)", role, a.Name)
	if absentWhen(v.Op, a) != "" {
		row += ".Optional()"
	}
	if a.List {
		row += fmt.Sprintf(".List(%d)", slices.Index(v.Lists(), cmp.Or(a.Per, a.Name)))
	}
	return row
}

// attrTypes are the named constructors of attributes by their types in a definition.
var attrTypes = map[string]string{"int": "Int", "float": "Float", "bool": "Bool", "str": "Str"}

// AttrRows are the rows of the table of attributes, in the definition's order.
func (v *opView) AttrRows() []string {
	var out []string
	for i := range v.Attrs {
		a := &v.Attrs[i]
		kind := attrTypes[a.Type]
		if a.Len != 0 {
			kind = "Ints"
		}
		row := fmt.Sprintf("opcast::Attr::%s(%q)%s", kind, a.Name, defaultOf(a))
		if a.Binds != "" {
			row = fmt.Sprintf("opcast::Attr::DTypeOf(%q, %q, %s)", a.Name, rule.Carrier(v.Op, a.Binds).Name, choicesName(a))
		}
		out = append(out, row)
	}
	return out
}

// defaultOf is the end of an attribute's row: what stands for it when a caller leaves it out.
func defaultOf(a *opdef.Attr) string {
	if a.MayBeNone() {
		return ".OrNone()"
	}
	var value string
	switch d := a.Default.(type) {
	case nil:
		return ""
	case []int64:
		value = listName(a)
		if len(d) == 0 {
			return ".DefaultEmpty()"
		}
		if a.Len > 0 && uniform(d) {
			value = intLiteral(d[0])
		}
	default:
		value = scalar(d)
	}
	return ".Default(" + value + ")"
}

// scalar is the literal of an attribute's value that is no list.
func scalar(value any) string {
	switch v := value.(type) {
	case int64:
		return intLiteral(v)
	case string:
		return stringLiteral(v)
	case float64:
		return view.Decimal(strconv.FormatFloat(v, 'g', -1, 64))
	}
	return fmt.Sprint(value) // bool
}

// uniform says whether one integer stands for the list.
func uniform(list []int64) bool {
	return !slices.ContainsFunc(list, func(n int64) bool { return n != list[0] })
}

// Constants declare what rows of attributes refer to: defaults that are lists of different integers, and what a dtype
// attribute may be.
func (v *opView) Constants() []string {
	var out []string
	for i := range v.Attrs {
		a := &v.Attrs[i]
		if list, isList := a.Default.([]int64); isList && len(list) > 0 && (a.Len <= 0 || !uniform(list)) {
			var items []string
			for _, n := range list {
				items = append(items, intLiteral(n))
			}
			out = append(out, fmt.Sprintf("constexpr int64_t %s[] = {%s};", listName(a), strings.Join(items, ", ")))
		}
		if a.Binds != "" {
			out = append(out, fmt.Sprintf("constexpr opcast::DType %s[] = {%s};", choicesName(a), v.choices(a.Binds)))
		}
	}
	return out
}

// choices are the enumerators of what a dtype variable may be.
func (v *opView) choices(name string) string {
	i := slices.IndexFunc(v.DTypes, func(d opdef.DTypeVar) bool { return d.Name == name })
	return enumerators(v.DTypes[i].OneOf)
}

func listName(a *opdef.Attr) string { return "kDefault_" + a.Name }

func choicesName(a *opdef.Attr) string { return "kChoices_" + a.Name }
