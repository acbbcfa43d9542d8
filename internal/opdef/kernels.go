package opdef

import (
	"slices"

	"github.com/opcast/opcast/internal/opdef/expr"
	"github.com/opcast/opcast/internal/opdef/names"
)

// KernelList returns the declared kernels for the manifest's devices. An op that declares none has one kernel for every
// device: of its own name on the first, and with the device's name at the end on the others, since all are functions in
// one namespace.
func (o *Op) KernelList() []Kernel {
	var list []Kernel
	for _, k := range o.Kernels {
		if slices.Contains(o.Devices, k.Device) {
			list = append(list, k)
		}
	}
	if len(o.Kernels) == 0 {
		for i, device := range o.Devices {
			name := o.Name
			if i > 0 {
				name += "_" + device
			}
			list = append(list, Kernel{Name: name, Device: device, Scratch: len(o.Scratch) > 0})
		}
	}
	return list
}

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
