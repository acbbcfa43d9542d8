package manifest

import (
	"cmp"
	"strings"
)

// Manifest holds the values of opcast.toml; its fields are the keys of the file.
type Manifest struct {
	// Name is that of the collection. Namespace is the name in torch.ops and of XLA targets, empty where it is Name.
	Name, Version, License, Namespace string
	// RequiresOpcast bounds the version of the tool.
	RequiresOpcast string `toml:"requires-opcast"`
	// Adaptors and Devices default to those of the frameworks that say so, and to cpu.
	Adaptors, Devices []string
	// Sources are globs of kernel files; Include, Defines and Link extend the compiler's command lines.
	Sources, Include, Defines, Link []string
	// Build says how all sources are compiled, CUDA and ROCm how those for GPUs are.
	Build Build
	CUDA  CUDA
	ROCm  ROCm
	// Files gives some of the sources options of their own.
	Files []FileFlags
	// Headers maps the name of a third-party header package to where it comes from.
	Headers map[string]Header
	// Retired are the kinds of ops that were removed; no op may have one of them again.
	Retired []int
}

// Unique is the name that tells the collection from every other one in a process: its namespace, or its name.
func (m *Manifest) Unique() string { return cmp.Or(m.Namespace, m.Name) }

// Variable is an environment variable that the collection's library reads: NAME_DEBUG for "DEBUG".
func (m *Manifest) Variable(name string) string { return strings.ToUpper(m.Name) + "_" + name }

// CPPNamespace is the C++ namespace of the generated headers and of the kernels. A name of a collection may be that of a
// function of C or of opcast's own namespace; with the ending it is neither.
func (m *Manifest) CPPNamespace() string { return m.Unique() + "_ops" }

// Build is the [build] table of a manifest.
type Build struct {
	// Werror makes errors of the warnings about the author's sources.
	Werror bool
}

// CUDA is the [cuda] table of a manifest.
type CUDA struct {
	// Arch lists the architectures, Flags more options of the compiler.
	Arch, Flags []string
	// Toolkit is the version of nvcc, or the beginning of it.
	Toolkit string
}

// ROCm is the [rocm] table of a manifest.
type ROCm struct {
	// Arch lists the architectures, such as "gfx90a"; Flags are more options of the compiler.
	Arch, Flags []string
}

// FileFlags gives some of the sources flags or architectures of their own.
type FileFlags struct {
	// Match is the glob of the sources.
	Match string
	// Arch and Flags are meant as in CUDA.
	Arch, Flags []string
}
