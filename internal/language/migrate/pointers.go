package migrate

import (
	"slices"
	"strings"
)

// pointers takes the functions on raw pointers that a file declares. They are what kernels call, so a draft can call them. Those
// of a file with bindings are its own, and so are those that take tensors, too.
func (r *reader) pointers(f *file) {
	if f.binds {
		return
	}
	for _, c := range r.inOrder(f) {
		if !c.onPointers() || r.registered[c.name] ||
			slices.ContainsFunc(c.params, func(p Param) bool { return p.Kind == List || p.Kind == Array && !p.Pointer }) {
			continue
		}
		switch {
		case c.global:
			r.note(f.Name, c.line, "not read: %s runs on the GPU: read the function that launches it", c.name)
		case c.hidden:
			r.note(f.Name, c.line, "not read: %s is static or in a namespace without a name, so no other file can call it", c.name)
		case c.prototype(r):
		default:
			r.functions = append(r.functions, r.pointerFunction(c))
		}
	}
}

// onPointers says whether a function takes a pointer to elements, or several to something else, which may be elements, too.
func (c *cFunction) onPointers() bool {
	unknown := 0
	for _, p := range c.params {
		if p.Pointer {
			return true
		}
		unknown += boolInt(p.Kind == Other && strings.Count(p.Type, "*") == 1)
	}
	return unknown > 1
}

// inOrder are the functions of a file by line.
func (r *reader) inOrder(f *file) []*cFunction {
	var list []*cFunction
	for _, all := range r.declared {
		for _, c := range all {
			if c.file == f {
				list = append(list, c)
			}
		}
	}
	slices.SortFunc(list, func(a, b *cFunction) int {
		if a.line != b.line {
			return a.line - b.line
		}
		return strings.Compare(a.declaration, b.declaration)
	})
	return list
}

// prototype says whether a header declares the same function, which is then read there, or this file earlier.
func (c *cFunction) prototype(r *reader) bool {
	key := c.name + "(" + c.shape()
	return r.inHeader[key] && !isHeader(c.file.Name) || r.first[c.file.Name+"\n"+key] != c
}

// shape is what tells overloads from each other.
func (c *cFunction) shape() string {
	types := make([]string, len(c.params))
	for i, p := range c.params {
		types[i] = strings.ReplaceAll(p.Type, " ", "")
	}
	return strings.Join(types, ",")
}

func isHeader(name string) bool {
	return slices.ContainsFunc([]string{".h", ".hpp", ".hh", ".hxx", ".cuh"}, func(end string) bool { return strings.HasSuffix(name, end) })
}

// declare notes a function that was read.
func (r *reader) declare(c *cFunction) {
	r.declared[c.name] = append(r.declared[c.name], c)
	key := c.name + "(" + c.shape()
	r.inHeader[key] = r.inHeader[key] || isHeader(c.file.Name)
	if in := c.file.Name + "\n" + key; r.first[in] == nil {
		r.first[in] = c
	}
}

func (r *reader) pointerFunction(c *cFunction) Function {
	c.instances, c.others = r.instances[c.name], r.declared[c.name]
	fn := Function{
		Name: c.name, File: c.file.Name, Line: c.line, Params: slices.Clone(c.params), Results: cppResults(c.result, r.types), Written: c.declaration,
		C: c, Device: r.deviceOf(c.file),
	}
	r.known(c, fn.Params)
	if slices.ContainsFunc(c.params, func(p Param) bool { return p.Kind == Stream }) {
		fn.Device = gpuOf(c.file)
	}
	return fn
}
