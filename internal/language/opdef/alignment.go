package opdef

import (
	"slices"

	"github.com/opcast/opcast/internal/language/opdef/expr"
)

// mostAligned is to how many bytes every framework aligns new arrays.
const mostAligned = 16

// Alignment is what an input's address must be a multiple of, lest adaptors copy it. It is 1 where any address will do, where no
// copy would help, and for what is never copied: what is overwritten, and outputs.
func (o *Op) Alignment(in *Arg) int64 {
	if asked := o.AskedAlignment(in); asked <= mostAligned && !in.Mutated && o.InputIndex(in.Name) >= 0 {
		return asked
	}
	return 1
}

// AskedAlignment is the most that a kernel asks of an argument's address. A kernel does not count if another one takes all calls of
// its devices and dtypes, and asks for less.
func (o *Op) AskedAlignment(arg *Arg) int64 {
	most, kernels := int64(1), o.KernelList()
	for i := range kernels {
		k := &kernels[i]
		asked := k.alignment(arg)
		less := func(other Kernel) bool { return other.alignment(arg) < asked && other.covers(k, arg) }
		if !slices.ContainsFunc(kernels, less) {
			most = max(most, asked)
		}
	}
	return most
}

// alignment is what the kernel asks of an argument's address.
func (k *Kernel) alignment(arg *Arg) int64 {
	most := int64(1)
	for _, e := range k.conditions() {
		if e.Op == expr.OpAligned && e.Name == arg.Name {
			most = max(most, e.Args[0].Value)
		}
	}
	return most
}

// conditions are those that all have to hold for the kernel to take a call.
func (k *Kernel) conditions() []*expr.Expr {
	if k.When == nil {
		return nil
	}
	return expr.Conjuncts([]*expr.Expr{k.When})
}

// covers says whether the kernel takes all calls on the devices and of the dtypes that another one is for, if an argument lies as it
// wants.
func (k *Kernel) covers(other *Kernel, arg *Arg) bool {
	anywhere := k.Arch == "" && len(k.GFX) == 0 && len(k.Features) == 0 && len(k.Compilers) == 0 && !k.Supported
	for _, e := range k.conditions() {
		anywhere = anywhere && e.Op == expr.OpAligned && e.Name == arg.Name
	}
	for name, list := range k.DTypes {
		its := other.DTypes[name]
		anywhere = anywhere && len(its) > 0 && !slices.ContainsFunc(its, func(short string) bool { return !slices.Contains(list, short) })
	}
	return anywhere && !slices.ContainsFunc(other.Devices, func(device string) bool { return !k.On(device) })
}
