package build

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// jaxFolder holds the sources of the handler library.
const jaxFolder = "adaptors/jax/csrc"

// baseFlags compile every unit. Without -ffp-contract=off, two compilers would round differently; without
// -fno-gnu-unique, two collections in one process would share statics.
var baseFlags = []string{
	"-std=c++17", "-fPIC", "-fvisibility=hidden", "-fvisibility-inlines-hidden", "-ffp-contract=off", "-pthread",
	"-Wall", "-Wextra", "-Werror",
}

// compileFlags are the shell words with which a unit is compiled.
func (in inputs) compileFlags(source string) string {
	flags := slices.Clone(baseFlags)
	if in.debug {
		flags = append(flags, "-O0", "-g")
	} else {
		flags = append(flags, "-O3", "-g0")
	}
	if !in.compiler.clang {
		flags = append(flags, "-fno-gnu-unique") // clang never makes such symbols and does not know the flag
	}
	manifest := in.project.Manifest
	flags = append(flags, "-ffile-prefix-map="+in.project.Dir+"=.", `-DOPCAST_COLLECTION="`+manifest.Name+`"`,
		"-I"+in.runtime.root, "-Ibackend/gen")
	flags = append(flags, in.foreignIncludes(source)...)
	for _, dir := range manifest.Include {
		flags = append(flags, "-I"+dir)
	}
	for _, define := range manifest.Defines {
		flags = append(flags, "-D"+define)
	}
	for _, f := range manifest.Files {
		if matcher(f.Match)(source) {
			flags = append(flags, f.Flags...)
		}
	}
	return shellWords(flags...)
}

// foreignIncludes are the header folders that only some units may see: kernels get no FFI header.
func (in inputs) foreignIncludes(source string) (flags []string) {
	system := func(dir, alias string) {
		// The alias keeps the environment's path out of the library's bytes.
		flags = append(flags, "-isystem", dir, "-ffile-prefix-map="+dir+"="+alias)
	}
	isJAX := slices.Contains(in.jax, source)
	if isJAX {
		flags = append(flags, "-I"+jaxFolder)
		system(in.env.JAXInclude, "jaxlib")
	}
	if isJAX || in.usesFFI(source) {
		system(in.env.TVMInclude, "tvm_ffi")
	}
	return flags
}

// usesFFI says whether a unit speaks tvm-ffi: the generated ones, the runtime's and the author's hand-written exports
// in a folder named ffi.
func (in inputs) usesFFI(source string) bool {
	folder, file := path.Base(path.Dir(source)), path.Base(source)
	if slices.Contains(in.kernels, source) {
		return folder == "ffi"
	}
	return strings.HasSuffix(file, ".gen.cc") || strings.HasPrefix(file, "ffi") || strings.HasPrefix(file, "registry")
}

// linkFlags are the shell words with which a library is linked. libtvm_ffi is not among them: whoever loads the
// library has loaded it already, and naming it would tie the file to one place.
func (in inputs) linkFlags(l library) string {
	flags := []string{"-Wl,--version-script=" + l.script(), "-Wl,-soname," + l.name, "-pthread",
		"-Wl,-z,nodelete"} // pool threads outlive every caller, so the code must too
	return shellWords(append(flags, in.project.Manifest.Link...)...)
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
