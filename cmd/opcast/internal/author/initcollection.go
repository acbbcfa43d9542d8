package author

import (
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/language/framework"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/names"
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
	for _, device := range withKernels(c.Devices) {
		globs = append(globs, kernelFolders[device].folder+"/*"+kernelFolders[device].ending)
	}
	slices.Sort(c.More)
	return append(globs, slices.Compact(c.More)...)
}

// NewKernels are the files of kernels that `opcast new softplus` writes.
func (c newCollection) NewKernels() (files []string) {
	for _, device := range withKernels(c.Devices) {
		files = append(files, kernelFile("softplus", device))
	}
	return files
}

func kernelFile(op, device string) string {
	return kernelFolders[device].folder + "/" + op + kernelFolders[device].ending
}

// kernelFiles are the templates of an op's kernels by the files that they become.
func kernelFiles(op string, devices []string, cpu, gpu string) map[string]string {
	files := map[string]string{}
	for _, device := range withKernels(devices) {
		files[kernelFile(op, device)] = gpu
		if device == "cpu" {
			files[kernelFile(op, device)] = cpu
		}
	}
	return files
}

// withKernels are the devices with sources of their own: those for CUDA are compiled for AMD's GPUs, too.
func withKernels(devices []string) []string {
	if !slices.Contains(devices, "cuda") {
		return devices
	}
	return slices.DeleteFunc(slices.Clone(devices), func(device string) bool { return device == "rocm" })
}

// CPUFunc is the example's kernel for the CPU in C++.
func (c newCollection) CPUFunc() string { return kernelFunc(exampleOp, c.Devices, true) }

// GPUFunc is that for GPUs.
func (c newCollection) GPUFunc() string { return kernelFunc(exampleOp, c.Devices, false) }

// kernelFunc is what the kernel for the CPU or that for GPUs is called of an op that declares none; "" without such a device.
func kernelFunc(op string, devices []string, cpu bool) string {
	for _, k := range (&opdef.Op{Name: op, Devices: devices}).KernelList() {
		if k.On("cpu") == cpu {
			return names.Pascal(k.Name)
		}
	}
	return ""
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
