package randomop

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
)

// sliced draws an op that promises to be independent along dims, of which some results may know nothing.
func (d *Drawer) sliced() *Op {
	op := d.op
	op.lead = pick(d, "*", "*", "...", "")
	for i := range 1 + d.random.IntN(2) {
		op.vars[string(rune('S'+i))] = d.dtypes()
	}
	vars := []string{"S", "T"}[:len(op.vars)]
	for range 2 + d.random.IntN(2) {
		d.newDim()
	}
	var known []string
	for i := range len(vars) + d.random.IntN(3) {
		a := arg{name: fmt.Sprintf("x%d", i), dtype: d.dtype(vars), lead: op.lead != "" && (i == 0 || d.often(7)), optional: i > len(vars)}
		if i < len(vars) {
			a.dtype = vars[i]
		}
		for j, name := range d.dims {
			if i == 0 && j < 2 || d.often(5) && (!a.optional || slices.Contains(known, name)) {
				a.dims = append(a.dims, name)
			}
		}
		known = append(known, a.dims...)
		if d.often(3) && (!a.lead || op.lead != "...") {
			a.mutated, a.rule = true, "refill"
			a.keys += ", mutated = true"
		}
		if d.often(2) && len(a.dims) > 0 {
			a.keys += pick(d, `, stride = "last"`, `, stride = "any"`)
		}
		op.inputs = append(op.inputs, a)
	}
	op.copies()
	for _, name := range append([]string{op.lead}, d.dims...) {
		if (slices.Contains(known, name) || name != "" && name == op.lead) && d.often(7) {
			op.parallel = append(op.parallel, name)
		}
	}
	d.rest()
	return op
}

// copies are the results of an op that copies its inputs.
func (op *Op) copies() {
	for i, in := range op.inputs {
		if !in.mutated || i == 0 {
			from := in
			a := arg{name: fmt.Sprintf("y%d", i), dtype: from.dtype, lead: from.lead, dims: slices.Clone(from.dims), rule: "copy", from: from.name}
			if from.optional {
				a.present = from.name
			}
			op.outputs = append(op.outputs, a)
		}
	}
}

// selecting draws an op that gives the marked rows of its inputs, and how many there are.
func (d *Drawer) selecting() *Op {
	op := d.op
	op.vars["T"] = d.dtypes()
	rows := d.newDim()
	count := arg{name: "count", dtype: pick(d, "i32", "i64"), dims: pick(d, []string{"1"}, nil), rule: "count", from: "marks"}
	for i := range 1 + d.random.IntN(2) {
		x := arg{name: fmt.Sprintf("x%d", i), dtype: d.dtype([]string{"T"}), dims: []string{rows}}
		if i == 0 {
			x.dtype = "T"
		}
		for range d.random.IntN(3) {
			x.dims = append(x.dims, d.inputDim(false))
		}
		if d.often(3) {
			x.keys = pick(d, `, stride = "last"`, `, stride = "any"`)
		}
		op.inputs = append(op.inputs, x)
		op.outputs = append(op.outputs, arg{
			name: fmt.Sprintf("y%d", i), dtype: x.dtype, dims: slices.Clone(x.dims), rule: "select", from: x.name, by: "marks", keys: `, valid = "count"`,
		})
	}
	op.inputs = append(op.inputs, arg{name: "marks", dtype: pick(d, "bool", "i8", "i32"), dims: []string{rows}, keys: pick(d, "", ", min = 0, max = 1")})
	op.outputs = append(op.outputs, count)
	if d.often(3) {
		op.outputs[0], op.outputs[len(op.outputs)-1] = op.outputs[len(op.outputs)-1], op.outputs[0]
	}
	d.conditions()
	d.rest()
	return op
}

// kernels draws the kernels: one, or several that compute the same and take other calls. The last one takes every call.
func (d *Drawer) kernels() {
	if !d.often(4) {
		return
	}
	op := d.op
	plain := func(name string) kernel {
		k := kernel{name: name, scratch: len(op.scratch) > 0}
		if k.scratch && d.often(3) {
			k.scratch, k.keys = false, "scratch = false\n"
		} else if len(op.scratch) == 1 && d.often(4) {
			k.workspace, k.keys = true, "query_workspace = true\n"
		}
		return k
	}
	for i := range 1 + d.random.IntN(2) {
		k := plain(fmt.Sprintf("%s_way%d", op.Name, i))
		sizes := op.sizes(d.dims)
		of := cmp.Or(op.owned(), "T")
		switch list := op.vars[of]; {
		case len(sizes) > 0 && d.often(3):
			k.even, k.keys = pick(d, sizes...), k.keys+"supported = true\n"
		case len(list) > 1 && d.often(2):
			k.keys += fmt.Sprintf("dtypes = { %s = %q }\n", of, pick(d, list...))
		default:
			k.keys += fmt.Sprintf("when = %q\n", d.when())
		}
		op.kernels = append(op.kernels, k)
	}
	op.kernels = append(op.kernels, plain(op.Name))
	for i := range op.kernels {
		op.kernels[i].draw()
	}
}

// owned is a dtype variable of an optional input, "" for none.
func (op *Op) owned() string {
	for _, in := range op.inputs {
		if in.optional && in.dtype == strings.ToUpper(in.name) {
			return in.dtype
		}
	}
	return ""
}

// draw gives every third kernel parameters. It asks the name, so that the draws after it are as they are without parameters.
func (k *kernel) draw() {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(k.name + k.keys)) // which never fails
	sum := int(hash.Sum32() % 3000)
	if sum%3 != 0 {
		return
	}
	for i := range 1 + sum%2 {
		k.params = append(k.params, []int{sum - 1500, 2000 + i, -9000}[:3-i])
	}
}

// when is a condition of a kernel.
func (d *Drawer) when() string {
	var all []string
	if when := d.choice(); when != "" {
		all = append(all, when)
	}
	for _, name := range d.op.sizes(d.dims) {
		all = append(all, name+" % 4 == 0", name+" >= 8", name+" < 3")
	}
	if list := d.op.vars["T"]; len(list) > 0 {
		all = append(all, "T == "+list[0])
	}
	for _, in := range d.op.inputs {
		if !in.optional && in.list == "" {
			all = append(all, "aligned("+in.name+", 16)")
		}
	}
	return pick(d, all...)
}

// sizes are the drawn sizes that the op itself knows: that of a derivative has no others than the polynomials'.
func (op *Op) sizes(drawn []string) []string {
	if len(op.space) > 0 {
		return op.space
	}
	return drawn
}
