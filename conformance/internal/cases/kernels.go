package cases

import (
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/language/opdef"
)

// KindOf is the kind of a device: "cuda" of "cuda:0".
func KindOf(device string) string {
	kind, _, _ := strings.Cut(device, ":")
	return kind
}

// KernelsOn are the kernels of an op for a device, in the order of dispatch.
func KernelsOn(op *opdef.Op, device string) []opdef.Kernel {
	return slices.DeleteFunc(slices.Clone(op.KernelList()), func(k opdef.Kernel) bool { return !k.On(KindOf(device)) })
}

// Dispatched are the kernels that dispatch may choose: those up to the first that takes every call.
func Dispatched(op *opdef.Op, device string) []opdef.Kernel {
	list := KernelsOn(op, device)
	i := slices.IndexFunc(list, func(k opdef.Kernel) bool { return len(k.DTypes) == 0 && k.When == nil && !MayDecline(&k) })
	if i < 0 {
		return list
	}
	return list[:i+1]
}

// OtherKernels are the kernels for other devices than the one under test.
func OtherKernels(op *opdef.Op, device string) []opdef.Kernel {
	return slices.DeleteFunc(slices.Clone(op.KernelList()), func(k opdef.Kernel) bool { return k.On(KindOf(device)) })
}

// MayDecline reports whether a kernel may refuse calls for reasons that the definition does not tell.
func MayDecline(k *opdef.Kernel) bool {
	return k.Arch != "" || len(k.GFX) > 0 || len(k.Features) > 0 || k.Supported || len(k.Compilers) > 0
}
