package opdef

import (
	"slices"

	"github.com/opcast/opcast/internal/opdef/expr"
)

// HasBatch says whether some argument has leading dims ("*").
func (o *Op) HasBatch() bool {
	star := func(a Arg) bool { return a.Type.leads() == "*" }
	return slices.ContainsFunc(o.Inputs, star) || slices.ContainsFunc(o.Outputs, star)
}

// InputIndex returns the index of the input with the given name, or -1.
func (o *Op) InputIndex(name string) int {
	return slices.IndexFunc(o.Inputs, func(a Arg) bool { return a.Name == name })
}

// Results are what a call gives back, in order: the outputs that are not saved, then the mutated inputs.
func (o *Op) Results() []Arg {
	return append(o.Returned(), o.Mutated()...)
}

// Returned are the outputs that are not saved.
func (o *Op) Returned() []Arg {
	return slices.DeleteFunc(slices.Clone(o.Outputs), func(a Arg) bool { return a.Saved })
}

// Saved are the outputs that are computed only when a gradient is wanted; they stand after the others.
func (o *Op) Saved() []Arg {
	return slices.DeleteFunc(slices.Clone(o.Outputs), func(a Arg) bool { return !a.Saved })
}

// Mutated are the inputs that the op overwrites.
func (o *Op) Mutated() []Arg {
	return slices.DeleteFunc(slices.Clone(o.Inputs), func(a Arg) bool { return !a.Mutated })
}

// Written are all arrays that the op writes: every output, then the mutated inputs.
func (o *Op) Written() []Arg { return append(slices.Clone(o.Outputs), o.Mutated()...) }

// ParallelDims are the dims along which slicing the inputs slices what the op writes: "*" where everything written has
// it, then the declared ones. One that is also in Sums may be missing from some outputs.
func (o *Op) ParallelDims() []string {
	var dims []string
	if !slices.ContainsFunc(o.Written(), func(a Arg) bool { return !a.Has("*") }) {
		dims = append(dims, "*")
	}
	return append(dims, slices.DeleteFunc(slices.Clone(o.Parallel), func(d string) bool { return d == "*" })...)
}

// ArgNames lists the names of arguments.
func ArgNames(args []Arg) []string {
	names := make([]string, len(args))
	for i, a := range args {
		names[i] = a.Name
	}
	return names
}

// Has says whether the argument has the dim for itself: not in arithmetic. "*" stands for the leading dims.
func (a Arg) Has(dim string) bool {
	return slices.ContainsFunc(a.Type.Dims, func(d Dim) bool { return d.Is(dim) })
}

// Dims are the texts of the dims: "*", "N", "2*D".
func (a Arg) Dims() []string {
	out := make([]string, len(a.Type.Dims))
	for i, d := range a.Type.Dims {
		out[i] = d.Text()
	}
	return out
}

// Is says whether the dim is the named one and nothing else; "*" stands for leading dims.
func (d Dim) Is(name string) bool {
	return d.Star && name == "*" || d.Plain() && d.Expr.Name == name
}

// Plain says whether the dim is a size that stands alone.
func (d Dim) Plain() bool { return d.Expr != nil && d.Expr.Op == expr.OpSymbol }

// Text is the dim as the definition writes it.
func (d Dim) Text() string {
	switch {
	case d.Star:
		return "*"
	case d.Ellipsis:
		return "..."
	case d.Expr == nil:
		return ""
	}
	return d.Expr.Text
}

// KernelList returns the declared kernels for the manifest's devices. An op that declares none has one kernel for every
// device: of its own name on the first, and with the device's name at the end on the others, since all are functions in
// one namespace.
func (o *Op) KernelList() []Kernel {
	var list []Kernel
	for _, k := range o.Kernels {
		if slices.Contains(o.Devices, k.Device) {
			list = append(list, k)
		}
	}
	if len(o.Kernels) == 0 {
		for i, device := range o.Devices {
			name := o.Name
			if i > 0 {
				name += "_" + device
			}
			list = append(list, Kernel{Name: name, Device: device, Scratch: len(o.Scratch) > 0})
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
