package opdef

// Manifest holds the values of opcast.toml.
type Manifest struct {
	// Name is that of the collection. Namespace is the name in torch.ops and of XLA targets, empty where it is Name.
	Name, Version, License, Namespace, RequiresOpcast string
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

// FileFlags gives the sources that Match their own flags or architectures.
type FileFlags struct {
	Match       string
	Arch, Flags []string
}

// Header is a third-party header package: a pip distribution or a path.
type Header struct{ Pip, Path string }

// rawManifest mirrors the file key by key.
type rawManifest struct {
	Name, Version, License, Namespace string
	RequiresOpcast                    string `toml:"requires-opcast"`
	Adaptors, Devices                 []string
	Sources, Include, Defines, Link   []string
	CUDA                              CUDA
	Files                             []FileFlags
	Headers                           map[string]Header
	Retired                           []int
}
