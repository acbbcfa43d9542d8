package build

import (
	"slices"

	"github.com/opcast/opcast/internal/build/compiler"
	"github.com/opcast/opcast/internal/system/ninja"
)

// errorVars make errors of warnings. They are variables of a machine: a package that builds itself has none of them, so that a compiler
// which warns of more does not stop it.
func (in inputs) errorVars() []ninja.Var {
	kernels := []string{"-Werror"}
	if !in.compiler.Clang { // which has more under the name of -Wconversion
		kernels = append(kernels, "-Wconversion", "-Wno-float-conversion") // no size is cut to 32 bits without a cast
	}
	vars := []ninja.Var{{Name: "errors", Value: "-Werror"}, {Name: "kernel_errors", Value: shellWords(kernels...)}}
	if in.cuda != nil {
		nvcc := append([]string{"-Werror", "all-warnings"}, compiler.HostWords([]string{"-Werror"})...)
		vars = append(vars, ninja.Var{Name: "nvcc_errors", Value: shellWords(nvcc...)})
	}
	return vars
}

// errorVar is the variable with which a source is compiled: always in what opcast ships and generates, and in the author's sources where
// the manifest says so. A kernel that somebody brings along shall build, and its warnings be seen.
func (in inputs) errorVar(source string) string {
	kernel := slices.Contains(in.kernels, source)
	switch {
	case in.sanitizer != nil: // compilers warn of what it adds
		return ""
	case kernel && !in.project.Manifest.Build.Werror:
		return ""
	case in.nvccTakes(source):
		return "$nvcc_errors"
	case !kernel, in.hip != nil && forGPU(source):
		return "$errors"
	}
	return "$kernel_errors"
}
