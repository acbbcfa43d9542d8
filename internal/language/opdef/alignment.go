package opdef

import (
	"slices"

	"github.com/opcast/opcast/internal/language/opdef/expr"
)

// Alignment is the number of bytes of which an input's address has to be a multiple, so that no adaptor copies it: what a kernel
// asks for whose calls no other one takes. It is 1 where any address will do, and for what is never copied: what is overwritten, and
// outputs.
func (o *Op) Alignment(in *Arg) int64 {
	most, kernels := int64(1), o.KernelList()
	for i := range kernels {
		k := &kernels[i]
		without := func(other Kernel) bool { return other.alignment(in) == 1 && other.covers(k) }
		if !in.Mutated && o.InputIndex(in.Name) >= 0 && !slices.ContainsFunc(kernels, without) {
			most = max(most, k.alignment(in))
		}
	}
	return most
}

// alignment is what the kernel asks of an input's address.
func (k *Kernel) alignment(in *Arg) int64 {
	most := int64(1)
	if k.When == nil {
		return most
	}
	for _, e := range expr.Conjuncts([]*expr.Expr{k.When}) {
		if e.Op == expr.OpAligned && e.Name == in.Name {
			most = max(most, e.Args[0].Value)
		}
	}
	return most
}

// covers says whether the kernel is for every machine and all dtypes that another one is for.
func (k *Kernel) covers(other *Kernel) bool {
	anywhere := k.Arch == "" && len(k.GFX) == 0 && len(k.Features) == 0 && len(k.Compilers) == 0
	for name, list := range k.DTypes {
		its := other.DTypes[name]
		anywhere = anywhere && len(its) > 0 && !slices.ContainsFunc(its, func(short string) bool { return !slices.Contains(list, short) })
	}
	return anywhere && !slices.ContainsFunc(other.Devices, func(device string) bool { return !k.On(device) })
}
