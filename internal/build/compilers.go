package build

import (
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/code"
)

// gpu is the kind of GPUs that the library is for, and the compiler of kernels for them; "" for a library without any.
func (in inputs) gpu() (device, compiler string) {
	switch {
	case in.emulated != nil:
		return in.emulated.of, opdef.CXX
	case in.cuda != nil:
		return "cuda", opdef.NVCC
	case in.hip != nil:
		return "rocm", opdef.HIPCC
	}
	return "", ""
}

// eachRestricted visits the kernels that say which compilers take their files: these are named like them, and hold no other kernel.
func eachRestricted(p *opdef.Project, visit func(*opdef.Op, opdef.Kernel)) {
	for _, op := range p.Ops {
		for _, k := range op.KernelList() {
			if len(k.Compilers) > 0 {
				visit(op, k)
			}
		}
	}
}

// leavesOut says whether a source is the file of a kernel that this build's compiler does not take.
func (in inputs) leavesOut(source string) (out bool) {
	device, compiler := in.gpu()
	eachRestricted(in.project, func(_ *opdef.Op, k opdef.Kernel) {
		if forGPU(source) && stem(source) == k.Name {
			out = !k.On(device) || !k.TakenBy(compiler)
		}
	})
	return out
}

// missingFiles are findings about kernels that say which compilers take their files, and have no file of their own.
func (in inputs) missingFiles() (findings diag.List) {
	device, compiler := in.gpu()
	eachRestricted(in.project, func(op *opdef.Op, k opdef.Kernel) {
		if k.On(device) && k.TakenBy(compiler) && !slices.ContainsFunc(in.kernels, func(s string) bool { return forGPU(s) && stem(s) == k.Name }) {
			findings.Add(kernelPos(op, k), code.NoSource, "define it in "+k.Name+".cu, and no other kernel there",
				"the file of kernel %s is for %s only, and no source is named like it", k.Name, strings.Join(k.Compilers, " and "))
		}
	})
	return findings
}
