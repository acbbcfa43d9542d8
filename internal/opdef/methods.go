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

// AttrValue is what an attr is in a call that gives some by name: the given value, else the default, which is nil where
// the backend computes it.
func (o *Op) AttrValue(given map[string]any, name string) any {
	if v, ok := given[name]; ok {
		return v
	}
	for _, a := range o.Attrs {
		if a.Name == name {
			return a.Default
		}
	}
	return nil
}

// IntValue is an attr's value in an integer expression: bools count as 0 and 1.
func IntValue(v any) (int64, bool) {
	switch v := v.(type) {
	case int64:
		return v, true
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	}
	return 0, false
}
