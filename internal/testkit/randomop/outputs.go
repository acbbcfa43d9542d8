package randomop

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// outputs draws the outputs, and what each holds.
func (d *Drawer) outputs() {
	_, bound := d.op.vars["O"]
	mutates := slices.ContainsFunc(d.op.inputs, func(a arg) bool { return a.mutated && !a.optional })
	n := 1 + d.random.IntN(3)
	if mutates && !bound {
		n = d.random.IntN(3)
	}
	for i := range n {
		a := arg{name: fmt.Sprintf("y%d", i), lead: d.op.lead != "" && d.often(8)}
		for range d.random.IntN(3) {
			a.dims = append(a.dims, d.outputDim())
		}
		d.holds(&a)
		if i == 0 && bound {
			a.dtype, a.rule, a.from, a.present = "O", "number", "", ""
		}
		if a.dtype == "f32" && d.often(2) {
			a.keys += d.convention()
		}
		if i > 0 && a.present == "" && d.often(4) {
			a.flag = d.flag()
		}
		d.op.outputs = append(d.op.outputs, a)
	}
	for _, in := range d.op.inputs {
		if in.packs != "" {
			name := fmt.Sprintf("y%d", len(d.op.outputs))
			d.op.outputs = append(d.op.outputs, arg{name: name, dtype: in.dtype, dims: slices.Clone(in.dims), rule: "copy", from: in.name, packs: in.packs, keys: fmt.Sprintf(", packs = %q", in.packs)})
		}
	}
}

// outputDim is a dim of an output.
func (d *Drawer) outputDim() string {
	name := pick(d, d.sizes()...)
	if when := d.choice(); when != "" && d.often(2) {
		name = "(" + name + " if " + when + " else " + pick(d, d.sizes()...) + ")"
	}
	return pick(d, name, name, name, "2*"+name, name+" + 1", "ceildiv("+name+", 2)", name+" // 2", "min("+name+", 2)",
		name+"*"+pick(d, d.sizes()...), strconv.Itoa(1+d.random.IntN(3)), pick(d, "0", "1"))
}

// holds draws what an output holds.
func (d *Drawer) holds(a *arg) {
	from := pick(d, d.op.inputs...)
	if from.mutated || from.rule == "index" || from.packs != "" {
		from = d.op.inputs[0]
	}
	a.dtype, a.rule, a.from = from.dtype, "copy", from.name
	switch {
	case from.optional && d.often(5):
		a.present, a.lead, a.dims = from.name, from.lead, slices.Clone(from.dims)
	case from.optional || from.mutated || d.often(2):
		a.dtype, a.rule, a.from = d.fixedOrGiven(), "number", ""
	case isInteger(from.dtype):
		a.dtype, a.rule = pick(d, from.dtype, "i32", "f32"), "marks"
	}
	for _, in := range d.op.inputs {
		if in.rule == "index" && !in.optional && a.rule == "copy" && !from.optional && slices.Equal(from.dims, []string{in.from}) {
			a.rule, a.by, a.lead, a.dims = "gather", in.name, from.lead, slices.Clone(in.dims)
		}
	}
}

// fixedOrGiven is a dtype that is fixed, or one that an input has.
func (d *Drawer) fixedOrGiven() string {
	for _, in := range d.op.inputs {
		if d.often(3) && !in.optional {
			return in.dtype
		}
	}
	return pick(d, "f32", "i32", "i64", "bool", "i8", "u64", "bf16", d.anyDType())
}

// conditions draws conditions that sizes can keep and break, and named sizes.
func (d *Drawer) conditions() {
	if len(d.dims) == 0 {
		return
	}
	if when := d.choice(); when != "" && d.often(3) {
		d.op.requires = append(d.op.requires, when+" or "+pick(d, d.dims...)+pick(d, " % 2 == 0", " >= 1", " != 3"))
	}
	for _, v := range slices.Sorted(maps.Keys(d.op.vars)) {
		if list := d.op.vars[v]; len(list) > 1 && d.often(2) {
			name := pick(d, d.dims...)
			d.op.requires = append(d.op.requires, pick(d, v+" != "+list[0], v+" == "+list[1]+" or "+name+" >= 1", v+" != "+list[1]+" or "+name+" % 2 == 0"))
			break
		}
	}
	if d.often(3) {
		name := pick(d, d.dims...)
		d.op.requires = append(d.op.requires, pick(d, name+" >= 1", name+" % 2 == 0", name+" <= 64", name+" != 3", name+" >= 0", "is_pow2("+name+")"))
	}
	if by := d.divisors(); d.often(3) {
		require := pick(d, d.dims...) + " % " + pick(d, by...) + " == 0"
		if !slices.ContainsFunc(d.op.requires, func(r string) bool { return strings.HasPrefix(r, "is_pow2(") }) { // no power of two is a multiple of 3
			d.op.requires = append(d.op.requires, require)
		}
	}
	for i := range d.random.IntN(2) {
		d.op.lets = append(d.op.lets, fmt.Sprintf("let.l%d = %q", i, pick(d, d.dims...)+" + "+strconv.Itoa(i)))
	}
	d.computed()
}

// divisors are the sizes of which others may be multiples.
func (d *Drawer) divisors() []string {
	by := append([]string{"3"}, d.dims...)
	for _, a := range d.op.attrs {
		if a.use == "size" {
			by = append(by, a.name)
		}
	}
	return by
}

// rest draws what changes nothing about the results.
func (d *Drawer) rest() {
	if d.often(1) {
		d.op.others = append(d.op.others, `since = "0.1"`)
	}
	if d.often(1) {
		d.op.others = append(d.op.others, `deprecated = "use another; removed in 0.5"`)
	}
	if d.often(1) {
		d.op.others = append(d.op.others, "deterministic = false")
	}
	if d.often(1) && len(d.dims) > 0 {
		d.op.others = append(d.op.others, "samples."+pick(d, d.dims...)+" = [2, 4]")
	}
	if d.often(3) {
		d.op.others = append(d.op.others, d.flops()...)
	}
}

// order draws an order of parameters for some ops: of all inputs, and of some attributes.
func (d *Drawer) order() {
	if !d.often(2) || slices.ContainsFunc(d.op.inputs, func(a arg) bool { return a.list != "" }) {
		return
	}
	var names []string
	for _, in := range d.op.inputs {
		names = append(names, strconv.Quote(in.name))
	}
	for _, a := range d.op.attrs {
		if d.often(6) {
			names = append(names, strconv.Quote(a.name))
		}
	}
	d.random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	d.op.others = append(d.op.others, "order = ["+strings.Join(names, ", ")+"]")
}

// flops are how many operations a call needs, and a named call.
func (d *Drawer) flops() []string {
	work := "2"
	for _, name := range d.dims {
		work += "*" + name
	}
	if d.op.lead != "" {
		work += "*batch"
	}
	call := ""
	for _, name := range d.dims {
		call += fmt.Sprintf("%s = %s, ", name, pick(d, "4", "8"))
	}
	if d.op.lead != "" {
		call += fmt.Sprintf("%q = %s, ", d.op.lead, pick(d, "[]", "[2, 3]"))
	}
	if length := 1 + d.random.IntN(3); len(d.op.own) > 0 {
		for _, name := range d.op.own {
			call += name + " = " + pick(d, "[4, 2, 3]", "[1, 8, 5]")[:3*length-1] + "], "
		}
	}
	for _, v := range slices.Sorted(maps.Keys(d.op.vars)) {
		call += fmt.Sprintf("%s = %q, ", v, pick(d, d.op.vars[v]...))
	}
	for _, a := range d.op.attrs {
		if a.value != "" {
			call += a.name + " = " + a.value + ", "
		}
	}
	for _, in := range d.op.inputs {
		if in.optional && d.often(5) {
			call += in.name + " = false, "
		}
	}
	return []string{fmt.Sprintf("flops = %q", work), "workloads.some_model = { " + call[:max(len(call)-2, 0)] + " }"}
}
