package build

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/build/compiler"
	"github.com/opcast/opcast/internal/build/tree"
	"github.com/opcast/opcast/internal/system/ninja"
)

// baseFlags compile every unit. Without -ffp-contract=off, two compilers would round differently; -fmad=false says the
// same to nvcc. A kernel that wants a * b + c in one rounding writes fmaf.
var baseFlags = []string{
	"-fPIC", "-fvisibility=hidden", "-fvisibility-inlines-hidden", "-ffp-contract=off", "-pthread",
	"-Wall", "-Wextra",
}

// machine are the variables of a build file that say where things are on this machine; all else is the same on every
// machine. Their values are shell words.
func (in inputs) machine(id string) []ninja.Var {
	words := func(name string, words ...string) ninja.Var {
		return ninja.Var{Name: name, Value: ninja.Escape(shellWords(words...))}
	}
	vars := []ninja.Var{words("cxx", in.compiler.Words...), words("cxx_flags", in.compiler.Flags()...),
		words("project", in.project.Dir), words("build_id", id),
		words("sources", in.digest), words("tvm_ffi", in.env.TVMInclude)}
	vars = append(vars, in.errorVars()...)
	for _, h := range in.handlers {
		vars = append(vars, words(h.Handlers.Package, in.env.Includes[h.Handlers.Package]))
	}
	if len(in.headers) > 0 {
		vars = append(vars, words("headers", in.headerWords(false)...))
	}
	if len(in.headers) > 0 && in.cuda != nil {
		vars = append(vars, words("nvcc_headers", in.headerWords(true)...))
	}
	if in.cuda != nil {
		vars = append(vars, words("nvcc", in.cuda.NVCC), words("nvcc_flags", in.compiler.NVCCFlags()...),
			words("cudart", in.cuda.Libraries))
	}
	if in.hip != nil {
		vars = append(vars, words("hipcc", in.hip.Words...))
	}
	return append(vars, in.featureVars()...)
}

// system are the options for headers of a package, by the variable with their folder; they keep the environment's path out of
// the bytes.
const system = "-isystem $%[1]s -ffile-prefix-map=$%[1]s=%[1]s"

// flags are the variables of a build file that units share: what all get, and what only some may see.
func (in inputs) flags() []ninja.Var {
	tvm := fmt.Sprintf(system, "tvm_ffi")
	headers := ""
	if len(elsewhere(in.project)) > 0 {
		headers = " $headers"
	}
	vars := []ninja.Var{
		// For packages that build themselves; folders, suffixes, linked and environment say what makes a library stale.
		{Name: "gnu_flags", Value: shellWords(compiler.GNUFlags...)},
		{Name: "environment", Value: shellWords(compiler.Environment...)},
		{Name: "distributions", Value: shellWords(in.distributions()...)},
		{Name: "modules", Value: shellWords(in.modules()...)},
		{Name: "folders", Value: ninja.Escape(shellWords(in.folders()...))},
		{Name: "suffixes", Value: shellWords(tree.TextSuffixes...)},
		{Name: "common", Value: "$cxx_flags -ffile-prefix-map=$project=. " + ninja.Escape(shellWords(in.cppFlags()...)) + headers},
		{Name: "ffi", Value: tvm},
	}
	vars = append(vars, in.headerVars()...)
	if used := in.usedFeatures(); len(used) > 0 {
		vars = append(vars, ninja.Var{Name: "features", Value: shellWords(used...)})
	}
	if words := in.project.Manifest.Link; len(words) > 0 {
		vars = append(vars, ninja.Var{Name: "link_words", Value: ninja.Escape(shellWords(words...))})
	}
	if len(in.libraries) > 0 {
		vars = append(vars, ninja.Var{Name: "linked", Value: ninja.Escape(shellWords(in.libraries...))})
	}
	for _, h := range in.handlers {
		vars = append(vars, h.flags())
	}
	if in.cuda != nil {
		if toolkit := in.project.Manifest.CUDA.Toolkit; toolkit != "" {
			vars = append(vars, ninja.Var{Name: "toolkit", Value: ninja.Escape(toolkit)})
		}
		vars = append(vars, ninja.Var{Name: "cuda", Value: in.cudaFlags("-std=c++17")})
	}
	if in.hip != nil {
		vars = append(vars, ninja.Var{Name: "hip", Value: "-ffile-prefix-map=$project=. " + ninja.Escape(shellWords(in.hipFlags()...)) + headers})
	}
	return vars
}

// cppFlags are the C++ compiler's options of all units.
func (in inputs) cppFlags() []string {
	flags := slices.Concat([]string{"-std=c++17"}, baseFlags, in.optimisation())
	if in.narrowest != "" {
		flags = append(flags, "-DOPCAST_NARROWEST="+in.narrowest)
	}
	if in.withoutCPU {
		flags = append(flags, "-DOPCAST_CPU=0")
	}
	if in.emulated != nil {
		flags = append(flags, "-DOPCAST_EMULATED=1")
	}
	if in.onCUDA() {
		archs := strings.Join(compiler.CUDAArchs(&in.project.Manifest), ",")
		flags = append(flags, "-DOPCAST_CUDA=1", `-DOPCAST_CUDA_ARCHS="`+archs+`"`)
	}
	if in.onROCm() {
		flags = append(flags, "-DOPCAST_ROCM=1", `-DOPCAST_ROCM_ARCHS="`+strings.Join(in.gfx(), ",")+`"`)
	}
	for _, f := range in.projectFlags() {
		flags = append(flags, f[0]+f[1])
	}
	return append(flags, in.systemWords()...)
}

// cudaFlags are nvcc's options of all CUDA units, as the value of a variable.
func (in inputs) cudaFlags(standard string) string {
	text := "$nvcc_flags " + ninja.Escape(shellWords(in.nvccFlags(standard)...))
	if len(elsewhere(in.project)) > 0 {
		text += " $nvcc_headers"
	}
	return text
}

// nvccFlags are nvcc's options of all CUDA units. Given two standards of C++, it would take the last and warn.
func (in inputs) nvccFlags(standard string) []string {
	flags := []string{standard, "-fmad=false"}
	if in.debug {
		flags = append(flags, "-O0", "-g", "-G")
	} else {
		flags = append(flags, "-O3")
	}
	flags = append(flags, compiler.HostWords(baseFlags)...)
	flags = append(flags, "-DOPCAST_CUDA=1")
	for _, f := range in.projectFlags() {
		// To nvcc a comma separates two macros or two folders.
		flags = append(flags, f[0]+strings.ReplaceAll(f[1], ",", `\,`))
	}
	return slices.Concat(flags, in.systemWords(), in.project.Manifest.CUDA.Flags)
}

// projectFlags are the include folders and the macros: an option and its value each.
func (in inputs) projectFlags() (flags [][2]string) {
	for _, dir := range append([]string{in.runtime.Root, "backend/gen"}, in.project.Manifest.Include...) {
		flags = append(flags, [2]string{"-I", dir})
	}
	for _, define := range in.project.Manifest.Defines {
		flags = append(flags, [2]string{"-D", define})
	}
	return flags
}

// unitFlags are the flags of one unit, in terms of the build file's variables: kernels get no FFI header, and the rest
// no CUDA header.
func (in inputs) unitFlags(source string) (string, error) {
	manifest := &in.project.Manifest
	archs, own := in.ownFlags(source)
	parts := []string{"$common"}
	switch {
	case in.isEmulated(source):
		parts = append(parts, shellWords(in.emulatedFlags(source)...))
	case forGPU(source) && in.hip != nil:
		parts = []string{"$hip"}
	case forGPU(source):
		words, err := compiler.Gencode(archs)
		if err != nil {
			return "", err
		}
		parts = []string{"$cuda", shellWords(words...)}
		if standard := standards(own); len(standard) > 0 {
			parts[0], own = in.cudaFlags(standard[len(standard)-1]), slices.DeleteFunc(own, isStandard)
		}
	case in.handlersOf(source) != nil:
		parts = append(parts, "$"+in.handlersOf(source).flagsName())
	case in.usesFFI(source):
		parts = append(parts, "$ffi")
	case path.Base(source) == "build_id.cc":
		parts = append(parts, `-DOPCAST_COLLECTION='"`+manifest.Name+`"' -DOPCAST_BUILD_ID='"$build_id"' -DOPCAST_SOURCES='"$sources"'`)
	}
	for _, name := range in.features[source] {
		parts = append(parts, "$"+featureVar(name))
	}
	if errors := in.errorVar(source); errors != "" {
		parts = append(parts, errors)
	}
	if len(own) > 0 {
		parts = append(parts, ninja.Escape(shellWords(own...)))
	}
	return strings.Join(parts, " "), nil
}

// ownFlags are the architectures of a source for CUDA, and the flags that the manifest gives it.
func (in inputs) ownFlags(source string) (archs, own []string) {
	manifest := &in.project.Manifest
	archs = compiler.CUDAArchs(manifest)
	for _, f := range manifest.Files {
		if !tree.Matcher(f.Match)(source) {
			continue
		}
		if in.isEmulated(source) || in.hip != nil && path.Ext(source) == tree.CUDASuffix { // others are nvcc's
			own = append(own, standards(f.Flags)...)
			continue
		}
		own = append(own, f.Flags...)
		if len(f.Arch) > 0 {
			archs = f.Arch
		}
	}
	return archs, own
}

// standards are the options that name the standard of C++, which all compilers take.
func standards(flags []string) []string {
	return slices.DeleteFunc(slices.Clone(flags), func(f string) bool { return !isStandard(f) })
}

func isStandard(flag string) bool { return strings.HasPrefix(flag, "-std=") }

// forGPU says whether a source is one of a compiler for GPUs.
func forGPU(source string) bool {
	return slices.Contains([]string{tree.CUDASuffix, tree.HIPSuffix}, path.Ext(source))
}

// ffiUnits are the beginnings of the names of the runtime's units that speak tvm-ffi.
var ffiUnits = []string{"ffi", "objects", "op_call", "registered", "registry"}

// usesFFI says whether a unit speaks tvm-ffi: the generated ones, the runtime's and the author's hand-written exports
// in a folder named ffi.
func (in inputs) usesFFI(source string) bool {
	folder, file := path.Base(path.Dir(source)), path.Base(source)
	if slices.Contains(in.kernels, source) {
		return folder == "ffi"
	}
	begins := func(prefix string) bool { return strings.HasPrefix(file, prefix) }
	return strings.HasSuffix(file, ".gen.cc") || slices.ContainsFunc(ffiUnits, begins)
}

// linkFlags are the shell words with which a library is linked. libtvm_ffi is not among them: whoever loads the
// library has loaded it already, and naming it would tie the file to one place.
func (in inputs) linkFlags(l library) string {
	flags := []string{"-Wl,-soname," + l.name, "-pthread",
		"-Wl,-z,nodelete"} // pool threads outlive every caller, so the code must too
	if len(in.shim) > 0 {
		flags = append(flags, portableWords...)
	}
	flags = append(flags, in.sanitizer.words()...)
	own := ninja.Escape(shellWords(append(flags, in.project.Manifest.Link...)...))
	if h := in.handlersOf(l.sources[0]); h != nil {
		own += h.link()
	}
	if in.emulated != nil {
		own += " -ldl"
	}
	switch gpu := slices.ContainsFunc(l.sources, forGPU); {
	case gpu && in.hip != nil:
		own += " -ldl" // with which HIP's runtime is opened when it is first needed
	case gpu && in.emulated == nil:
		// The driver is opened when it is first needed, so that the library loads on machines without one.
		own += " -L$cudart -lcudart_static -ldl -lrt"
	}
	if len(in.shim) > 0 {
		own += " " + shellWords(formerLibraries...)
	}
	return own
}

var plainWord = regexp.MustCompile(`^[\w@%+=:,./-]+$`)

// shellWords joins words so that a shell splits them again.
func shellWords(words ...string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		if quoted[i] = w; !plainWord.MatchString(w) {
			quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}
