package tree

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// CPPSuffixes are the source files that the C++ compiler takes.
var CPPSuffixes = []string{".cc", ".cpp", ".cxx"}

// TextSuffixes are the files that can change what a compiler makes.
var TextSuffixes = []string{
	".c", ".cc", ".cpp", ".cu", ".cuh", ".cxx", ".def", ".h", ".hh", ".hip", ".hpp", ".hxx", ".inc", ".inl", ".ipp", ".tpp",
}

// IsSource says whether a compiler reads files of that name: sources and headers that are not hidden. Editors keep locks
// and drafts beside a file under hidden names.
func IsSource(name string) bool {
	name = path.Base(name)
	return !strings.HasPrefix(name, ".") && slices.Contains(TextSuffixes, path.Ext(name))
}

// CUDASuffix is the suffix of the files that nvcc and compilers for HIP take.
const CUDASuffix = ".cu"

// HIPSuffix is the suffix of those that only compilers for HIP take.
const HIPSuffix = ".hip"

// Kernels are the sources of kernels, sorted: those of the C++ compiler, and those of the two suffixes of GPUs.
type Kernels struct{ CPP, CUDA, HIP []string }

// FindSources lists the kernel files that the globs match. Headers among them are left to the compilers.
func FindSources(dir string, globs []string) (found Kernels, err error) {
	for _, g := range globs {
		files, err := Glob(dir, g)
		if err != nil {
			return found, err
		}
		for _, f := range files {
			switch suffix := path.Ext(f); {
			case slices.Contains(CPPSuffixes, suffix):
				found.CPP = append(found.CPP, f)
			case suffix == CUDASuffix:
				found.CUDA = append(found.CUDA, f)
			case suffix == HIPSuffix:
				found.HIP = append(found.HIP, f)
			}
		}
	}
	for _, list := range []*[]string{&found.CPP, &found.CUDA, &found.HIP} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return found, nil
}

// Match finds sources for GPUs that no build would compile.
func (found Kernels) Match(devices []string) error {
	rocm := slices.Contains(devices, "rocm")
	if len(found.CUDA) > 0 && !rocm && !slices.Contains(devices, "cuda") {
		return fmt.Errorf(`%s is a CUDA source, but devices in opcast.toml do not name "cuda"`, found.CUDA[0])
	}
	if len(found.HIP) > 0 && !rocm {
		return fmt.Errorf(`%s is a source for AMD's GPUs, but devices in opcast.toml do not name "rocm"`, found.HIP[0])
	}
	return nil
}

// PackedSources is the folder in which a package carries the sources that it builds itself from.
const PackedSources = "source"

// PackedHeaders is the folder in which it carries the headers of Python distributions.
const PackedHeaders = "headers"
