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

// KernelList returns the declared kernels or, where there is none, one kernel of the op's name on every device.
func (o *Op) KernelList() []Kernel {
	if len(o.Kernels) > 0 {
		return o.Kernels
	}
	list := make([]Kernel, len(o.Devices))
	for i, device := range o.Devices {
		list[i] = Kernel{Name: o.Name, Device: device}
	}
	return list
}
