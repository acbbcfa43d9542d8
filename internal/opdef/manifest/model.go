package manifest

// Manifest holds the values of opcast.toml; its fields are the keys of the file.
type Manifest struct {
	// Name is that of the collection. Namespace is the name in torch.ops and of XLA targets, empty where it is Name.
	Name, Version, License, Namespace string
	// RequiresOpcast bounds the version of the tool.
	RequiresOpcast string `toml:"requires-opcast"`
	// Adaptors and Devices default to all four adaptors and to cpu.
	Adaptors, Devices []string
	// Sources are globs of kernel files; Include, Defines and Link extend the compiler's command lines.
	Sources, Include, Defines, Link []string
	// CUDA says how CUDA sources are compiled.
	CUDA CUDA
	// Files gives some of the sources options of their own.
	Files []FileFlags
	// Headers maps the name of a third-party header package to where it comes from.
	Headers map[string]Header
	// Retired are the kinds of ops that were removed; no op may have one of them again.
	Retired []int
}

// CUDA is the [cuda] table of a manifest.
type CUDA struct {
	// Arch lists the architectures, Flags more options of the compiler.
	Arch, Flags []string
	// Toolkit is the version of nvcc, or the beginning of it.
	Toolkit string
}

// FileFlags gives some of the sources flags or architectures of their own.
type FileFlags struct {
	// Match is the glob of the sources.
	Match string
	// Arch and Flags are meant as in CUDA.
	Arch, Flags []string
}

// Header is a third-party header package, which comes either from a pip distribution or from a path.
type Header struct{ Pip, Path string }
