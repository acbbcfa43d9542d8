package e2e

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/opcast/opcast/internal/dtype"
)

// randomOp is an op that is made up: what each result holds is so simple that its kernel is right.
type randomOp struct {
	name           string
	kind           int
	star           bool // inputs and outputs have leading dims
	vars           map[string][]string
	attrs          []randomAttr
	inputs         []randomArg
	outputs        []randomArg
	lets, requires []string
	scratch        bool
	parallel       []string
	backward       string
}

// randomAttr is an attribute: its name, its keys and what it is for.
type randomAttr struct{ name, keys, use string }

// randomArg is an input or an output of such an op.
type randomArg struct {
	name, dtype                string
	star                       bool
	dims                       []string
	optional, mutated          bool
	keys                       string
	rule, from, other, present string
}

func (a *randomArg) kind() string {
	dims := slices.Clone(a.dims)
	if a.star {
		dims = append([]string{"*"}, dims...)
	}
	return a.dtype + "[" + strings.Join(dims, ", ") + "]"
}

// randomOps makes ops up.
type randomOps struct {
	*rand.Rand
	made int
	op   *randomOp
	// dims are the sizes that inputs have given so far.
	dims []string
}

func (r *randomOps) often(tenths int) bool { return r.IntN(10) < tenths }

func pick[T any](r *randomOps, items ...T) T { return items[r.IntN(len(items))] }

// next draws an op, and with some luck one for its gradients.
func (r *randomOps) next() []*randomOp {
	r.made++
	r.op = &randomOp{name: fmt.Sprintf("op%d", r.made), kind: r.made, vars: map[string][]string{}}
	r.dims = nil
	if r.often(2) {
		return r.differentiable()
	}
	r.op.star = r.often(6)
	for i := range r.IntN(3) {
		r.op.vars[string(rune('S'+i))] = r.dtypes()
	}
	r.attrs()
	r.inputs()
	r.outputs()
	r.conditions()
	return []*randomOp{r.op}
}

// dtypes are those that a variable may stand for.
func (r *randomOps) dtypes() []string {
	if r.often(5) {
		return []string{"f32", "f16", "bf16"}[:1+r.IntN(3)]
	}
	var list []string
	for range 1 + r.IntN(3) {
		list = append(list, r.anyDType())
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func (r *randomOps) anyDType() string {
	for {
		if d := pick(r, dtype.Table...); d.CPP != "" && d.Short != "f8e8m0fnu" { // which has no zero
			return d.Short
		}
	}
}

// dtype is a variable or a dtype.
func (r *randomOps) dtype(vars []string) string {
	if len(vars) > 0 && r.often(7) {
		return pick(r, vars...)
	}
	return pick(r, "f32", "f32", "f16", "bf16", "i32", "i64", "bool", "i8", "u8", "f64", r.anyDType())
}

// inputs draws the inputs, the required ones first.
func (r *randomOps) inputs() {
	vars := slices.DeleteFunc([]string{"S", "T"}, func(v string) bool { return r.op.vars[v] == nil })
	n := max(1+r.IntN(3), len(vars))
	optional := r.IntN(2)
	for i := range n + optional {
		a := randomArg{name: fmt.Sprintf("x%d", i), dtype: r.dtype(vars), optional: i >= n}
		if i < len(vars) {
			a.dtype = vars[i]
		}
		a.star = r.op.star && (i == 0 || r.often(5))
		for range r.IntN(3) {
			a.dims = append(a.dims, r.inputDim(a.optional))
		}
		if when := r.choice(); when != "" && !a.optional && r.often(2) {
			one, other := string(rune('A'+len(r.dims))), string(rune('B'+len(r.dims)))
			r.dims = append(r.dims, one, other)
			a.dims = append(a.dims, one+" if "+when+" else "+other, other+" if "+when+" else "+one)
		}
		if len(a.dims) == 0 && !a.star && i == 0 {
			a.dims = append(a.dims, r.inputDim(false))
		}
		if r.often(2) && len(a.dims) > 0 {
			a.keys += pick(r, `, stride = "last"`, `, stride = "any"`)
		}
		if (!a.optional || r.often(5)) && r.often(2) && !strings.Contains(a.keys, "any") {
			a.mutated, a.rule = true, "reverse"
			a.keys += ", mutated = true"
		}
		if !a.mutated && i > 0 && i >= len(vars) && r.often(1) && len(r.dims) > 0 {
			a.dtype, a.rule, a.star, a.from = pick(r, "i32", "i64"), "index", false, pick(r, r.dims...)
			a.keys += ", min = 0, max = " + strconv.Quote(a.from+" - 1")
		}
		r.op.inputs = append(r.op.inputs, a)
	}
}

// inputDim is a dim that the inputs so far, or this one, make known.
func (r *randomOps) inputDim(optional bool) string {
	if len(r.dims) == 0 || !optional && r.often(4) {
		name := string(rune('A' + len(r.dims)))
		r.dims = append(r.dims, name)
		if when := r.choice(); when != "" && r.often(2) {
			return "(2 if " + when + " else 1)*" + name
		}
		return pick(r, name, name, name, "2*"+name, name+" + 1")
	}
	name := pick(r, r.sizes()...)
	if when := r.choice(); when != "" && r.often(1) {
		return "2*(" + name + " if " + when + " else " + pick(r, r.sizes()...) + ")"
	}
	return pick(r, name, name, name, name, name+" + 1", "2*"+name, "ceildiv("+name+", 2)", "max("+name+", 2)", name+"*"+pick(r, r.sizes()...), strconv.Itoa(r.IntN(4)))
}

// outputs draws the outputs, and what each holds.
func (r *randomOps) outputs() {
	_, bound := r.op.vars["O"]
	mutates := slices.ContainsFunc(r.op.inputs, func(a randomArg) bool { return a.mutated })
	n := 1 + r.IntN(3)
	if mutates && !bound {
		n = r.IntN(3)
	}
	for i := range n {
		a := randomArg{name: fmt.Sprintf("y%d", i), star: r.op.star && r.often(8)}
		for range r.IntN(3) {
			name := pick(r, r.sizes()...)
			if when := r.choice(); when != "" && r.often(2) {
				name = "(" + name + " if " + when + " else " + pick(r, r.sizes()...) + ")"
			}
			a.dims = append(a.dims, pick(r, name, name, name, "2*"+name, name+" + 1", "ceildiv("+name+", 2)", name+" // 2", "min("+name+", 2)", name+"*"+pick(r, r.sizes()...), strconv.Itoa(1+r.IntN(3))))
		}
		r.holds(&a)
		if i == 0 && bound {
			a.dtype, a.rule, a.from, a.present = "O", "number", "", ""
		}
		r.op.outputs = append(r.op.outputs, a)
	}
	r.op.scratch = r.often(2)
}

// holds draws what an output holds.
func (r *randomOps) holds(a *randomArg) {
	from := pick(r, r.op.inputs...)
	if from.mutated || from.rule == "index" {
		from = r.op.inputs[0]
	}
	a.dtype, a.rule, a.from = from.dtype, "copy", from.name
	switch {
	case from.optional && r.often(5):
		a.present, a.star, a.dims = from.name, from.star, slices.Clone(from.dims)
	case from.optional || from.mutated:
		a.dtype, a.rule, a.from = r.fixedOrGiven(), "number", ""
	case r.often(2):
		a.dtype, a.rule, a.from = r.fixedOrGiven(), "number", ""
	case slices.Contains([]string{"i8", "u8", "i32", "i64", "bool"}, from.dtype):
		a.dtype, a.rule = pick(r, from.dtype, "i32", "f32"), "marks"
	}
	for _, in := range r.op.inputs {
		if in.rule == "index" && !in.optional && a.rule == "copy" && !from.optional && slices.Equal(from.dims, []string{in.from}) {
			a.rule, a.other, a.star, a.dims = "gather", in.name, from.star, slices.Clone(in.dims)
		}
	}
}

// fixedOrGiven is a dtype that is fixed, or one that an input has.
func (r *randomOps) fixedOrGiven() string {
	for _, in := range r.op.inputs {
		if r.often(3) && !in.optional {
			return in.dtype
		}
	}
	return pick(r, "f32", "i32", "i64", "bool", "i8", "u64", "bf16", r.anyDType())
}

// conditions draws conditions that sizes can keep and break.
func (r *randomOps) conditions() {
	if len(r.dims) == 0 {
		return
	}
	if when := r.choice(); when != "" && r.often(3) {
		r.op.requires = append(r.op.requires, when+" or "+pick(r, r.dims...)+pick(r, " % 2 == 0", " >= 1", " != 3"))
	}
	for _, v := range slices.Sorted(maps.Keys(r.op.vars)) {
		if list := r.op.vars[v]; len(list) > 1 && r.often(2) {
			name := pick(r, r.dims...)
			r.op.requires = append(r.op.requires, pick(r, v+" != "+list[0], v+" == "+list[1]+" or "+name+" >= 1", v+" != "+list[1]+" or "+name+" % 2 == 0"))
			break
		}
	}
	if r.often(3) {
		name := pick(r, r.dims...)
		r.op.requires = append(r.op.requires, pick(r, name+" >= 1", name+" % 2 == 0", name+" <= 64", name+" != 3", name+" >= 0"))
	}
	for i := range r.IntN(2) {
		r.op.lets = append(r.op.lets, fmt.Sprintf("let.l%d = %q", i, pick(r, r.dims...)+" + "+strconv.Itoa(i)))
	}
}

// differentiable is y = x * w, element by element or with one w for all rows, and its gradient.
func (r *randomOps) differentiable() []*randomOp {
	op := r.op
	op.star, op.vars["T"] = true, []string{"f32", "f16", "bf16"}[:1+r.IntN(3)]
	op.attrs = []randomAttr{{"a0", `"float", default = 0.5`, "factor"}}
	op.inputs = []randomArg{{name: "x0", dtype: "T", star: true, dims: []string{"A"}}}
	op.outputs = []randomArg{{name: "y0", dtype: "T", star: true, dims: []string{"A"}, rule: "scale", from: "x0"}}
	if r.often(5) {
		op.inputs = append(op.inputs, randomArg{name: "x1", dtype: "i32", dims: []string{"B"}})
		op.outputs = append(op.outputs, randomArg{name: "y1", dtype: "i32", dims: []string{"B", "2"}, rule: "copy", from: "x1"})
	}
	if len(op.inputs) == 1 && r.often(5) {
		op.parallel = []string{"A"}
	}
	op.backward = op.name + "_grad"
	r.made++
	grad := &randomOp{name: op.backward, kind: r.made, star: true, vars: map[string][]string{"T": op.vars["T"]}, attrs: op.attrs, parallel: op.parallel}
	grad.inputs = []randomArg{{name: "grad_y0", dtype: "T", star: true, dims: []string{"A"}}}
	grad.outputs = []randomArg{{name: "grad_x0", dtype: "T", star: true, dims: []string{"A"}, rule: "scale", from: "grad_y0"}}
	return []*randomOp{op, grad}
}
