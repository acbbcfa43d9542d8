package gen

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/dtype"
	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/rule"
)

// cppKernel is a variant as C++ sees it: the author's Function and the generated Supports, which is nullptr for a
// kernel that takes every call on its device.
type cppKernel struct {
	opdef.Kernel
	Function, DLDevice, Supports string
}

var dlDevices = map[string]string{"cpu": "kDLCPU", "cuda": "kDLCUDA", "rocm": "kDLROCM"}

// Variants are the kernels of the op in dispatch order.
func (v *cppView) Variants() []cppKernel {
	var out []cppKernel
	for _, k := range v.KernelList() {
		c := cppKernel{Kernel: k, Function: pascal(k.Name), DLDevice: dlDevices[k.Device], Supports: "nullptr"}
		if k.When != nil || len(k.DTypes) > 0 || k.Supported || c.ArchTest() != "" {
			c.Supports = "Supports" + c.Function
		}
		out = append(out, c)
	}
	return out
}

// Guard is the macro that keeps a function of the author only in libraries that are built for the kernel's device.
func (k cppKernel) Guard() string { return "OPCAST_ON_" + strings.ToUpper(k.Device) }

// Built is the condition of the preprocessor for that, "" where it always holds.
func (k cppKernel) Built() string {
	if k.Device == "cpu" {
		return ""
	}
	return "OPCAST_" + strings.ToUpper(k.Device)
}

// Query is the author's query of the workspace.
func (k cppKernel) Query() string {
	if !k.QueryWorkspace {
		return "nullptr"
	}
	return k.Guard() + "(" + k.WorkspaceFunction() + ")"
}

var cudaArch = regexp.MustCompile(`^(\D*?) ?(\d+)[a-z]?$`)

// ArchTest is the condition on the device's architecture; "" for none.
func (k cppKernel) ArchTest() string {
	m := cudaArch.FindStringSubmatch(k.Arch)
	if k.Device != "cuda" || m == nil {
		return ""
	}
	sign := m[1]
	if sign == "" {
		sign = "=="
	}
	return "launch.arch " + sign + " " + m[2]
}

// Conditions are the tests of a variant: each must hold, else its text is the reason for no.
func (k cppKernel) Conditions(v *cppView) []field {
	var out []field
	for _, d := range v.DTypes {
		allowed, narrowed := k.DTypes[d.Name]
		if !narrowed {
			continue
		}
		var tests []string
		for _, s := range allowed {
			tests = append(tests, "args."+cppName(d.Name)+" == "+cppEnum(s))
		}
		text := fmt.Sprintf("needs %s to be %s", d.Name, rule.Or(rule.Long(allowed)))
		out = append(out, field{Value: strings.Join(tests, " || "), Comment: text})
	}
	if k.When != nil {
		p := cppExpr(func(s string) string {
			if _, isDType := dtype.Lookup(s); isDType {
				return cppEnum(s)
			}
			return "args." + cppName(s)
		})
		out = append(out, field{Value: p.print(k.When), Comment: "needs " + k.When.Text})
	}
	return out
}

// ArrayInfos are the rows of the table of arrays: outputs, then inputs.
func (v *cppView) ArrayInfos() []string {
	var out []string
	for _, a := range v.Outputs {
		role := "kOutput"
		if a.Saved {
			role = "kSaved"
		}
		out = append(out, arrayInfo(&a, role))
	}
	for _, a := range v.Inputs {
		role := "kInput"
		if a.Mutated {
			role = "kMutated"
		}
		out = append(out, arrayInfo(&a, role))
	}
	return out
}

// ScratchInfos are the rows of the table of scratch tensors.
func (v *cppView) ScratchInfos() []string {
	var out []string
	for _, a := range v.Scratch {
		out = append(out, fmt.Sprintf("{%q, opcast::Role::kScratch, true}", a.Name))
	}
	return out
}

func arrayInfo(a *opdef.Arg, role string) string {
	return fmt.Sprintf("{%q, opcast::Role::%s, %t}", a.Name, role, absentWhen(a) != "")
}

// AttrInfos are the rows of the table of attributes, in the definition's order.
func (v *cppView) AttrInfos() []string {
	var out []string
	for i := range v.Attrs {
		out = append(out, v.attrInfo(&v.Attrs[i]))
	}
	return out
}

func (v *cppView) attrInfo(a *opdef.Attr) string {
	kind := map[string]string{"int": "kInt", "float": "kFloat", "bool": "kBool", "str": "kStr", "dtype": "kDType"}[a.Type]
	if a.Len > 0 {
		kind = "kInts"
	}
	carrier, otherwise := "nullptr", "kNone"
	integer, number, text, list := "0", "0", "nullptr", "nullptr"
	if a.Binds != "" {
		carrier = cppString(rule.Carrier(v.Op, a.Binds).Name)
	}
	switch value := a.Default.(type) {
	case int64:
		integer = cppInt(value)
	case float64:
		number = fmt.Sprint(value)
	case bool:
		integer = map[bool]string{false: "0", true: "1"}[value]
	case string:
		text = cppString(value)
	case []int64:
		integer = cppInt(value[0])
		if slices.ContainsFunc(value, func(n int64) bool { return n != value[0] }) {
			list = listName(a)
		}
	}
	if a.Binds != "" {
		text = cppString(v.choices(a.Binds))
	}
	switch {
	case a.DefaultExpr != nil:
		otherwise = "kLate"
	case a.HasDefault:
		otherwise = "kValue"
	}
	return fmt.Sprintf("{%q, opcast::AttrType::%s, %d, %s, opcast::AttrInfo::Default::%s, %s, %s, %s, %s}",
		a.Name, kind, max(a.Len, 0), carrier, otherwise, integer, number, text, list)
}

// choices are the long names of what a dtype variable may be.
func (v *cppView) choices(variable string) string {
	for _, d := range v.DTypes {
		if d.Name == variable {
			return strings.Join(rule.Long(d.OneOf), ",")
		}
	}
	return ""
}

// Lists declare the defaults that are lists of different integers.
func (v *cppView) Lists() []string {
	var out []string
	for i := range v.Attrs {
		a := &v.Attrs[i]
		value, isList := a.Default.([]int64)
		if !isList || !strings.HasSuffix(v.attrInfo(a), listName(a)+"}") {
			continue
		}
		var items []string
		for _, n := range value {
			items = append(items, cppInt(n))
		}
		out = append(out, fmt.Sprintf("constexpr int64_t %s[] = {%s};", listName(a), strings.Join(items, ", ")))
	}
	return out
}

func listName(a *opdef.Attr) string { return "kDefault_" + a.Name }
