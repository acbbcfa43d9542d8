package cpp

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/rule"
)

// HasParams says whether some kernel of the op has parameters.
func (v *opView) HasParams() bool {
	return slices.ContainsFunc(v.KernelList(), func(k opdef.Kernel) bool { return len(k.Params) > 0 })
}

// ParamsType is the struct of the kernel's parameters.
func (k kernel) ParamsType() string { return k.Function + "Params" }

// ParamsTable is the table of the kernel's parameters.
func (k kernel) ParamsTable() string { return "kParams" + k.Function }

// ValuesOf is the array of a parameter's values.
func (k kernel) ValuesOf(p opdef.Param) string { return "kValues" + k.Function + "_" + p.Name }

// Choice says what a parameter can be: "64, 128 or 256".
func (k kernel) Choice(p opdef.Param) string {
	words := make([]string, len(p.Values))
	for i, value := range p.Values {
		words[i] = strconv.FormatInt(value, 10)
	}
	return rule.Or(words)
}

// Launcher is the function that dispatch calls: the author's, or one that brings its parameters.
func (k kernel) Launcher() string {
	if len(k.Params) > 0 {
		return "Launch" + k.Function
	}
	return k.Function
}

// DTypeCount is the number of dtypes by which calls are told apart.
func (v *opView) DTypeCount() int { return len(v.DTypes) }

// TunedDTypes and TunedValues are the dtypes and sizes of a call, by which a measured one is found.
func (v *opView) TunedDTypes() string {
	names := make([]string, len(v.DTypes))
	for i, d := range v.DTypes {
		names[i] = "args." + d.Name
	}
	return strings.Join(names, ", ")
}

// TunedValues see TunedDTypes.
func (v *opView) TunedValues() string {
	var list []string
	for _, size := range v.TunedSizes() {
		list = append(list, "args."+size)
	}
	return strings.Join(list, ", ")
}

// TunedCalls are the rows of what was measured of a kernel, by the numbers of the architectures.
func (v *opView) TunedCalls(k kernel) []string {
	type call struct {
		arch int
		text string
	}
	var calls []call
	if len(k.Params) == 0 {
		return nil
	}
	for _, file := range v.Project.Tuned {
		device := opdef.ArchDevice(file.Arch)
		if !k.On(device) {
			continue
		}
		rows := file.Fitting(v.Project)
		for i := range rows {
			if r := &rows[i]; r.Op == v.Name && r.Kernel == k.Name {
				number := archNumber(device, file.Arch)
				calls = append(calls, call{number, v.tunedCall(&k.Kernel, r, number, file.Arch)})
			}
		}
	}
	slices.SortStableFunc(calls, func(a, b call) int { return cmp.Compare(a.arch, b.arch) })
	out := make([]string, len(calls))
	for i, c := range calls {
		out[i] = c.text
	}
	return out
}

// archNumber is the number by which the backend knows an architecture, and compares it.
func archNumber(device, arch string) int {
	if device == "cpu" {
		return opdef.CPUArch(arch)
	}
	digits, base := strings.TrimPrefix(arch, "sm_"), 10
	if device == "rocm" {
		digits, base = strings.TrimPrefix(arch, "gfx"), 16
	}
	number, err := strconv.ParseInt(digits, base, 32)
	if err != nil {
		panic(err) // the loader has refused it
	}
	return int(number)
}

// tunedCall is one row: {3, {opcast::DType::kF32}, {opcast::LogOfSize(64)}, 2}, with the workload behind it.
func (v *opView) tunedCall(k *opdef.Kernel, r *opdef.TunedRow, number int, arch string) string {
	var dtypes, logs []string
	for _, d := range v.DTypes {
		dtypes = append(dtypes, enumerator(r.DTypes[d.Name]))
	}
	for _, size := range v.TunedSizes() {
		logs = append(logs, fmt.Sprintf("opcast::LogOfSize(%d)", r.Sizes[size]))
	}
	return fmt.Sprintf("{%d, {%s}, {%s}, %d},  // %s: %s", number, strings.Join(dtypes, ", "), strings.Join(logs, ", "),
		r.Choice(k), arch, r.Workload)
}
