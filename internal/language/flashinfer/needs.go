package flashinfer

import (
	"maps"
	"regexp"
	"slices"
)

// completed is the definition with a dtype for each array that the formula needs, and whose dtype was not recorded. Numbers that the
// formula needs, and what alone tells a size, are no longer optional.
func (d *Definition) completed() *Definition {
	out := *d
	out.Inputs = Object[Tensor]{Names: d.Inputs.Names, By: maps.Clone(d.Inputs.By)}
	for _, name := range d.Inputs.Names {
		if t := d.Inputs.By[name]; t.DType == "unknown" && t.Shape != nil && d.required(name) {
			t.DType, t.Optional = "float32", false
			if pointing.MatchString(name) {
				t.DType = "int32"
			}
			if recorded := d.Outputs.By[name]; recorded.DType != "" {
				t.DType = recorded.DType
			}
			out.Inputs.By[name] = t
		}
	}
	for _, name := range d.Inputs.Names {
		t := out.Inputs.By[name]
		needed := t.Shape == nil && (d.required(name) || out.chooses(name) || d.constrains(name))
		if t.Optional && (needed || slices.ContainsFunc(t.Shape, func(axis string) bool { return !out.bound(axis) })) {
			t.Optional = false
			out.Inputs.By[name] = t
		}
	}
	return &out
}

var pointing = regexp.MustCompile(`indptr|indices|cu_seqlens|_lens?$|table|^mask$`)

// bound says whether a call tells the size of an axis: it is constant, or an input that is not optional has it, or has one that a
// constraint computes of it.
func (d *Definition) bound(axis string) bool {
	return d.has(axis) || slices.ContainsFunc(d.Constraints, func(c string) bool {
		m := equality.FindStringSubmatch(c)
		return m != nil && d.has(m[1]) && d.Axes.By[m[1]].Value == nil && slices.Contains(word.FindAllString(m[2], -1), axis)
	})
}

// has says whether an axis is constant, or an input has it that is not optional.
func (d *Definition) has(axis string) bool {
	return d.Axes.By[axis].Value != nil || slices.ContainsFunc(d.Inputs.Names, func(name string) bool {
		t := d.Inputs.By[name]
		return !t.Optional && t.DType != "unknown" && slices.Contains(t.Shape, axis)
	})
}

// constrains says whether a constraint speaks of an input.
func (d *Definition) constrains(name string) bool {
	return slices.ContainsFunc(d.Constraints, func(c string) bool { return slices.Contains(word.FindAllString(c, -1), name) })
}

// chooses says whether an input is a number that is the size of a result, and of no array that the call gets.
func (d *Definition) chooses(name string) bool {
	t, known := d.Inputs.By[name]
	return known && t.Shape == nil && slices.Contains(d.axes(), name) && !d.bound(name)
}
