package opdef

import (
	"slices"

	"github.com/opcast/opcast/internal/language/opdef/expr"
	"github.com/opcast/opcast/internal/language/opdef/names"
)

// KernelList returns the declared kernels for the manifest's devices, of which each names those that it is for. An op that
// declares none has one kernel for the CPU and one for GPUs: of its own name for what the manifest lists first, and with the
// device's name at the end for the other, since all are functions in one namespace.
func (o *Op) KernelList() []Kernel {
	if len(o.Kernels) == 0 {
		return o.impliedKernels()
	}
	var list []Kernel
	for _, k := range o.Kernels {
		k.Devices = slices.DeleteFunc(slices.Clone(k.Devices), func(device string) bool { return !slices.Contains(o.Devices, device) })
		if len(k.Devices) > 0 {
			list = append(list, k)
		}
	}
	return list
}

func (o *Op) impliedKernels() (list []Kernel) {
	for _, device := range o.Devices {
		if i := slices.IndexFunc(list, func(k Kernel) bool { return !k.On("cpu") }); i >= 0 && device != "cpu" {
			list[i].Devices = append(list[i].Devices, device)
			continue
		}
		name := o.Name
		if len(list) > 0 {
			name += "_" + device
		}
		list = append(list, Kernel{Name: name, Devices: []string{device}, Scratch: len(o.Scratch) > 0})
	}
	return list
}

// On says whether the kernel is for a device.
func (k *Kernel) On(device string) bool { return slices.Contains(k.Devices, device) }

// The compilers of kernels for GPUs. CXX is the C++ compiler, which takes them for emulated devices.
const (
	NVCC  = "nvcc"
	HIPCC = "hipcc"
	CXX   = "c++"
)

// Compilers are the words for the compilers of kernels for GPUs.
var Compilers = []string{NVCC, HIPCC, CXX}

// CompilerFor is the compiler that makes code for GPUs of a kind; "" for the CPU.
func CompilerFor(device string) string { return map[string]string{"cuda": NVCC, "rocm": HIPCC}[device] }

// TakenBy says whether a compiler takes the kernel's file.
func (k *Kernel) TakenBy(compiler string) bool {
	return len(k.Compilers) == 0 || slices.Contains(k.Compilers, compiler)
}

// Keeps says whether a part along one of the op's parallel dims has the bits of that part of the whole.
func (k *Kernel) Keeps(dim string) bool { return !slices.Contains(k.Breaks, dim) }

// Functions are the C++ functions that the author of a kernel writes.
func (k Kernel) Functions() []string {
	list := []string{names.Pascal(k.Name)}
	if k.Supported {
		list = append(list, k.SupportedFunction())
	}
	if k.QueryWorkspace {
		list = append(list, k.WorkspaceFunction())
	}
	return list
}

// Generated are the C++ names that are generated for a kernel with parameters, among those that authors may give.
func (k Kernel) Generated() []string {
	if len(k.Params) == 0 {
		return nil
	}
	name := names.Pascal(k.Name)
	return []string{name + "Params", "Launch" + name, "Choose" + name}
}

// SupportedFunction is the C++ name of the author's predicate.
func (k Kernel) SupportedFunction() string { return names.Pascal(k.Name) + "Supported" }

// WorkspaceFunction is the C++ name of the author's query.
func (k Kernel) WorkspaceFunction() string { return names.Pascal(k.Name) + "Workspace" }

// Excludes says whether a condition refuses a choice of dtypes, whatever the sizes and attributes are. The dtypes are the
// short names that the variables stand for.
func (o *Op) Excludes(dtypes map[string]string) bool {
	return slices.ContainsFunc(o.Requires, func(e *expr.Expr) bool { return e.EvalCondition(dtypes, expr.NoValues{}) == expr.KnownFalse })
}

// Accepts says whether the kernel takes calls with the given dtypes, which are the short names that the dtype variables
// stand for. The condition in when is decided as far as env, which may be nil, has values for its names. The architecture
// and the author's predicate are not looked at.
func (k *Kernel) Accepts(dtypes map[string]string, env expr.Env) expr.Truth {
	for name, list := range k.DTypes {
		if !slices.Contains(list, dtypes[name]) {
			return expr.KnownFalse
		}
	}
	if k.When == nil {
		return expr.KnownTrue
	}
	return k.When.EvalCondition(dtypes, env)
}
