package randomop

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// inputs draws the inputs, the required ones first.
func (d *Drawer) inputs() {
	vars := slices.DeleteFunc([]string{"S", "T"}, func(v string) bool { return d.op.vars[v] == nil })
	n := max(1+d.random.IntN(3), len(vars))
	optional := d.random.IntN(3)
	for i := range n + optional {
		a := arg{name: fmt.Sprintf("x%d", i), dtype: d.dtype(vars), optional: i >= n}
		if i < len(vars) {
			a.dtype = vars[i]
		} else if d.op.vars["O"] != nil && a.optional && d.often(4) {
			a.dtype = "O"
		}
		d.shape(&a, i)
		d.input(&a, i, i >= len(vars))
		d.ownDType(&a)
		d.op.inputs = append(d.op.inputs, a)
	}
}

// shape draws the dims of an input.
func (d *Drawer) shape(a *arg, i int) {
	a.lead = d.op.lead != "" && (i == 0 || d.often(5))
	for range d.random.IntN(3) {
		a.dims = append(a.dims, d.inputDim(a.optional))
	}
	if when := d.choice(); when != "" && !a.optional && d.often(2) {
		one, other := d.newDim(), d.newDim()
		a.dims = append(a.dims, one+" if "+when+" else "+other, other+" if "+when+" else "+one)
	}
	if len(a.dims) == 0 && !a.lead && i == 0 {
		a.dims = append(a.dims, d.inputDim(false))
	}
}

// input draws the other keys of an input. One whose dtype is free may become an index.
func (d *Drawer) input(a *arg, i int, free bool) {
	broadcast := a.lead && d.op.lead == "..."
	if d.often(2) && len(a.dims) > 0 {
		a.keys += pick(d, `, stride = "last"`, `, stride = "any"`)
	}
	switch {
	case !broadcast && (!a.optional || d.often(5)) && d.often(2):
		a.mutated, a.rule = true, pick(d, "reverse", "reverse", "refill")
		a.keys += ", mutated = true"
	case i > 0 && free && !a.optional && d.often(1):
		d.packed(a)
	case i > 0 && free && d.often(1) && len(d.dims) > 0:
		a.dtype, a.rule, a.lead, a.from = pick(d, "i32", "i64"), "index", false, pick(d, d.dims...)
		a.keys += ", min = 0, max = " + strconv.Quote(a.from+" - 1") + pick(d, "", ", sorted = true")
	case d.often(1) && slices.Contains([]string{"i8", "u8", "i16", "i32", "i64"}, a.dtype):
		a.keys += ", min = 0, max = 9" + pick(d, "", ", sorted = true")
	}
	if a.dtype == "f32" && d.often(2) {
		a.keys += d.convention()
	}
}

// packed makes integers of an input of which each holds several numbers. A result is a copy of them.
func (d *Drawer) packed(a *arg) {
	if len(a.dims) == 0 {
		a.dims = append(a.dims, d.inputDim(false))
	}
	a.dtype, a.rule, a.lead, a.packs = pick(d, "u8", "i32"), "packed", false, pick(d, "i4", "u4", "f4e2m1fn")
	a.keys += fmt.Sprintf(", packs = %q", a.packs)
}

// ownDType gives some optional inputs a dtype variable that no other input has.
func (d *Drawer) ownDType(a *arg) {
	if !a.optional || d.op.vars[a.dtype] != nil || !d.often(4) {
		return
	}
	name := strings.ToUpper(a.name)
	switch {
	case a.rule == "index":
		d.op.vars[name] = []string{"i32", "i64"}
	case strings.Contains(a.keys, "min") || strings.Contains(a.keys, "lse"):
		return
	default:
		d.op.vars[name] = d.dtypes()
	}
	a.dtype = name
}

// convention is that of a log-sum-exp.
func (d *Drawer) convention() string {
	return fmt.Sprintf(", lse = { base = %q, empty = %q }", pick(d, "e", "2"), pick(d, "-inf", "inf", "0"))
}

// inputDim is a dim that the inputs so far, or this one, make known.
func (d *Drawer) inputDim(optional bool) string {
	if len(d.dims) == 0 || !optional && d.often(4) {
		name := d.newDim()
		if when := d.choice(); when != "" && d.often(2) {
			return "(2 if " + when + " else 1)*" + name
		}
		return pick(d, name, name, name, "2*"+name, name+" + 1")
	}
	name, other := pick(d, d.sizes()...), pick(d, d.sizes()...)
	if when := d.choice(); when != "" && d.often(1) {
		return "2*(" + name + " if " + when + " else " + other + ")"
	}
	return pick(d, name, name, name, name, name+" + 1", "2*"+name, "ceildiv("+name+", 2)", "max("+name+", 2)", name+"*"+other, strconv.Itoa(d.random.IntN(4)))
}

// isInteger says whether elements of a dtype are integers or bools, of which a few kinds are marked.
func isInteger(dtype string) bool { return strings.Contains(" i8 u8 i32 i64 bool ", " "+dtype+" ") }
