package build

import (
	"cmp"
	"path"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sys/cpu"

	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/code"
	"github.com/opcast/opcast/internal/language/opdef/feature"
	"github.com/opcast/opcast/internal/system/ninja"
)

// A kernel for the CPU that asks for features has a source file of its own, which is named like the kernel: the compiler may
// use the features everywhere in it. No other kernel may stand there, since it would run on CPUs without them.

// sourceFeatures are the features with which sources are compiled, as compilers name them; most have none.
func (in inputs) sourceFeatures() map[string][]string {
	asked := map[string][]string{}
	eachFeatured(in.project, func(_ *opdef.Op, k opdef.Kernel) {
		for _, word := range k.Features {
			name, _ := feature.Lookup(word)
			asked[k.Name] = append(asked[k.Name], name)
		}
	})
	features := map[string][]string{}
	for _, source := range in.kernels {
		if names := asked[stem(source)]; len(names) > 0 && !forGPU(source) {
			features[source] = slices.Compact(slices.Sorted(slices.Values(names)))
		}
	}
	return features
}

// stem is the name of a source file, without folder and suffix.
func stem(source string) string { return strings.TrimSuffix(path.Base(source), path.Ext(source)) }

// eachFeatured visits the kernels that ask for features.
func eachFeatured(p *opdef.Project, visit func(*opdef.Op, opdef.Kernel)) {
	for _, op := range p.Ops {
		for _, k := range op.Kernels { // one that is not declared asks for none
			if len(k.Features) > 0 && slices.Contains(op.Devices, "cpu") {
				visit(op, k)
			}
		}
	}
}

// missingSources are findings about kernels that ask for features and have no source file of their own.
func (in inputs) missingSources() (findings diag.List) {
	if in.withoutCPU {
		return nil
	}
	eachFeatured(in.project, func(op *opdef.Op, k opdef.Kernel) {
		own := func(source string) bool { return !forGPU(source) && stem(source) == k.Name }
		if !slices.ContainsFunc(in.kernels, own) {
			findings.Add(kernelPos(op, k), code.NoSource, "define it in "+k.Name+".cc, and no other kernel there",
				"kernel %s asks for features of the CPU, and no source is named like it", k.Name)
		}
	})
	return findings
}

// inLinkOrder are the author's sources as they are linked: those that are compiled for features come last. Of an inline function
// that several objects have, the linker keeps the first, so the others never run code for features that the CPU lacks.
func (in inputs) inLinkOrder() []string {
	return slices.SortedStableFunc(slices.Values(in.kernels), func(a, b string) int {
		return cmp.Compare(feature.Rank(in.features[a]), feature.Rank(in.features[b]))
	})
}

// usedFeatures are those for which any source is compiled.
func (in inputs) usedFeatures() (names []string) {
	for _, asked := range in.features {
		names = append(names, asked...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// featureVar is the variable with the compiler's option for a feature. It has a value on machines of the kind for which the
// feature is: elsewhere the source is compiled without, and may be empty for the compiler.
func featureVar(name string) string { return "cpu_" + strings.ReplaceAll(name, ".", "_") }

// featureVars are these variables on this machine.
func (in inputs) featureVars() (vars []ninja.Var) {
	if runtime.GOARCH != "amd64" {
		return nil
	}
	for _, name := range in.usedFeatures() {
		vars = append(vars, ninja.Var{Name: featureVar(name), Value: "-m" + name})
	}
	return vars
}

// narrowest is this machine's instruction set, as parallel.h calls it: nothing narrower is needed here.
func narrowest() string {
	x86 := &cpu.X86
	switch {
	case x86.HasAVX512F && x86.HasAVX512BW && x86.HasAVX512DQ && x86.HasAVX512VL:
		return "kAvx512"
	case x86.HasAVX2 && x86.HasFMA:
		return "kAvx2"
	default:
		return "kBaseline"
	}
}

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
