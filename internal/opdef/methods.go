package opdef

import "slices"

// HasBatch says whether some argument has leading dims ("*").
func (o *Op) HasBatch() bool {
	star := func(a Arg) bool { return a.Type.leads() == "*" }
	return slices.ContainsFunc(o.Inputs, star) || slices.ContainsFunc(o.Outputs, star)
}

// InputIndex returns the index of the input with the given name, or -1.
func (o *Op) InputIndex(name string) int {
	return slices.IndexFunc(o.Inputs, func(a Arg) bool { return a.Name == name })
}

// KernelList returns the declared kernels for the manifest's devices. An op that declares none has one kernel of its own
// name on every device.
func (o *Op) KernelList() []Kernel {
	var list []Kernel
	for _, k := range o.Kernels {
		if slices.Contains(o.Devices, k.Device) {
			list = append(list, k)
		}
	}
	if len(o.Kernels) == 0 {
		for _, device := range o.Devices {
			list = append(list, Kernel{Name: o.Name, Device: device})
		}
	}
	return list
}
