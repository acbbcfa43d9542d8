package author

import (
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/framework"
	"github.com/opcast/opcast/internal/opdef/names"
)

// newCollection fills the templates of `opcast init`.
type newCollection struct {
	Name string
	// Namespace is that of the project's kernels in C++.
	Namespace string
	Devices   []string
	// Example is the op that the collection begins with; "" if there is none.
	Example string
	// More are sources beside those of kernels.
	More []string
}

// Sources are the globs of the manifest.
func (c newCollection) Sources() (globs []string) {
	for _, device := range c.Devices {
		globs = append(globs, kernelFolders[device].folder+"/*"+kernelFolders[device].ending)
	}
	slices.Sort(c.More)
	return append(globs, slices.Compact(c.More)...)
}

// NewKernels are the files of kernels that `opcast new softplus` writes.
func (c newCollection) NewKernels() (files []string) {
	for _, device := range c.Devices {
		files = append(files, kernelFile("softplus", device))
	}
	return files
}

func kernelFile(op, device string) string {
	return kernelFolders[device].folder + "/" + op + kernelFolders[device].ending
}

// CUDAFunc is the example's kernel for GPUs in C++: it has the op's name if it is the only one.
func (c newCollection) CUDAFunc() string { return cudaFunc(exampleOp, c.Devices) }

func cudaFunc(op string, devices []string) string {
	if devices[0] == "cuda" {
		return names.Pascal(op)
	}
	return names.Pascal(op + "_cuda")
}

// adaptors are those that a manifest has which names none.
func adaptors() (list []framework.Framework) {
	for _, fw := range framework.All() {
		if fw.Default {
			list = append(list, fw)
		}
	}
	return list
}

// Frameworks are the titles of the frameworks in a sentence.
func (c newCollection) Frameworks() string {
	var titles []string
	for _, fw := range adaptors() {
		titles = append(titles, fw.Title)
	}
	last := len(titles) - 1
	return strings.Join(titles[:last], ", ") + " and " + titles[last]
}

// Extra is a framework whose adaptor the README installs.
func (c newCollection) Extra() string { return adaptors()[0].Name }

// Install are the words behind `pip install`.
func (c newCollection) Install() string {
	var list []string
	for _, fw := range adaptors() {
		list = append(list, fw.Name)
	}
	return requirements(list)
}
