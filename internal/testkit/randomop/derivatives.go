package randomop

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// differentiable draws an op whose results are polynomials of its inputs, and those of its derivatives that it names.
func (d *Drawer) differentiable() []*Op {
	op := d.op
	op.lead = pick(d, "*", "*", "...", "")
	op.vars["T"] = d.floats()
	vars := []string{"T"}
	if d.often(2) {
		op.vars["S"] = d.floats()
		vars = append(vars, "S")
	}
	for range 1 + d.random.IntN(2) {
		op.space = append(op.space, d.newDim())
	}
	if d.often(7) {
		op.attrs = []attr{{"a0", `"float", default = 0.5`, "factor", "2.0"}}
	}
	d.factors(vars)
	n := 1 + d.random.IntN(2)
	for i := range n {
		y := d.polynomial(fmt.Sprintf("y%d", i), pick(d, vars...))
		if op.lead != "..." && i > 0 && d.often(4) { // a sum
			y.lead = y.lead && d.often(5)
			y.dims = d.some(y.dims)
		}
		op.outputs = append(op.outputs, y)
	}
	if n > 1 && d.often(4) {
		op.attrs = append(op.attrs, attr{"wanted", `"bool"` + pick(d, "", ", default = false", ", default = true"), "flag", "true"})
		op.outputs[1].flag = "wanted"
	}
	op.sumUp()
	if d.often(4) {
		op.parallel = d.independent()
	}
	if d.often(3) && len(op.sums) == 0 { // whose results lack the dims, but are no sums over them
		d.addIntegers()
	}
	if len(op.outputs) == 1 && len(op.sums) == 0 && d.often(3) {
		op.outputs = append(op.outputs, op.slope())
	}
	if n := len(op.inputs); n > 1 && d.often(3) {
		op.still = op.inputs[1+d.random.IntN(n-1)].name
	}
	d.rest()
	return append([]*Op{op}, d.derivatives(op, 0, map[string]int{})...)
}

// addIntegers draws an input without gradient, and a result of it.
func (d *Drawer) addIntegers() {
	size := d.newDim()
	at := slices.IndexFunc(d.op.inputs, func(a arg) bool { return a.optional })
	if at < 0 {
		at = len(d.op.inputs)
	}
	d.op.inputs = slices.Insert(d.op.inputs, at, arg{name: "marks", dtype: "i32", dims: []string{size}})
	d.op.outputs = append(d.op.outputs, arg{name: "marked", dtype: "i32", dims: []string{size, "2"}, rule: "marks", from: "marks"})
}

// slope is what the only result changes with the first input. It is saved for the gradient.
func (op *Op) slope() arg {
	y := op.outputs[0]
	s := arg{name: "slope", dtype: y.dtype, lead: y.lead, dims: y.dims, rule: "polynomial", saved: true}
	for _, t := range y.terms {
		s.terms = append(s.terms, t.derive("x0", "")...)
	}
	return s
}

// saves says whether an op saves something for its gradient.
func (op *Op) saves() bool {
	return slices.ContainsFunc(op.outputs, func(y arg) bool { return y.saved })
}

// factors draws the inputs: the first has all dims, others may lack some, and the last may be absent.
func (d *Drawer) factors(vars []string) {
	op := d.op
	for i := range len(vars) + d.random.IntN(3) {
		a := arg{name: fmt.Sprintf("x%d", i), dtype: pick(d, vars...), lead: op.lead != "", dims: slices.Clone(op.space)}
		if i < len(vars) {
			a.dtype = vars[i]
		}
		if i > 0 && d.often(4) {
			a.lead, a.dims = a.lead && d.often(5), d.some(a.dims)
		}
		if a.optional = i > len(vars) || i == len(vars) && d.often(4); !a.optional && d.often(2) && len(a.dims) > 0 {
			a.keys = pick(d, `, stride = "last"`, `, stride = "any"`)
		}
		op.inputs = append(op.inputs, a)
	}
}

// some are some of the items.
func (d *Drawer) some(items []string) []string {
	return slices.DeleteFunc(slices.Clone(items), func(string) bool { return d.often(4) })
}

// polynomial draws a result in which every term has the first input, so that all dims occur.
func (d *Drawer) polynomial(name, dtype string) arg {
	op := d.op
	y := arg{name: name, dtype: dtype, lead: op.lead != "", dims: slices.Clone(op.space), rule: "polynomial"}
	for i, in := range op.inputs {
		t := term{factor: pick(d, 1, 1, 2, -1), times: len(op.attrs) > 0 && d.often(5), of: []string{in.name}}
		if i > 0 && d.often(6) {
			t.of = append(t.of, "x0")
		} else if i == 0 && d.often(2) {
			t.of = append(t.of, "x0")
		}
		y.terms = append(y.terms, t)
	}
	return y
}

// sumUp declares the dims over which results are sums.
func (op *Op) sumUp() {
	for _, name := range append([]string{op.lead}, op.space...) {
		if name != "" && slices.ContainsFunc(op.outputs, func(y arg) bool { return y.rule == "polynomial" && !y.has(name, op.lead) }) {
			op.sums = append(op.sums, name)
			if name != op.lead && slices.ContainsFunc(op.outputs, func(y arg) bool { return y.has(name, op.lead) }) {
				op.parallel = append(op.parallel, name)
			}
		}
	}
}

// has says whether an argument has a dim, or the leading ones.
func (a *arg) has(name, lead string) bool {
	return name == lead && a.lead || slices.Contains(a.dims, name)
}

// independent are dims along which polynomials are independent: those that no result lacks.
func (d *Drawer) independent() (dims []string) {
	for _, name := range d.op.space {
		if !slices.ContainsFunc(d.op.outputs, func(y arg) bool { return !y.has(name, d.op.lead) }) || slices.Contains(d.op.parallel, name) {
			dims = append(dims, name)
		}
	}
	return dims
}

// derivatives draws the ops that the given one names, and theirs, up to the second order. Used counts the prefixes so far.
func (d *Drawer) derivatives(of *Op, order int, used map[string]int) (ops []*Op) {
	chance := []int{10, 5}[order]
	for _, kind := range []string{"backward", "forward"} {
		if !d.often(chance) {
			continue
		}
		prefix := map[string]string{"backward": "grad", "forward": "tangent"}[kind]
		count := map[string]int{"grad": used["grad"], "tangent": used["tangent"]}
		if count[prefix]++; count[prefix] > 1 {
			prefix += strconv.Itoa(count[prefix])
		}
		made := d.newOp(of.Name + "_" + kind)
		made.lead, made.vars, made.attrs, made.space, made.still = of.lead, of.vars, of.attrs, of.space, of.still
		if kind == "backward" {
			made.backward(of, prefix+"_")
		} else {
			made.forward(of, prefix+"_")
		}
		made.inputs = append(made.inputs, arguments(of)...)
		slices.SortStableFunc(made.inputs, func(a, b arg) int { return strings.Compare(fmt.Sprint(a.optional), fmt.Sprint(b.optional)) })
		made.sumUp()
		of.derived = append(of.derived, kind+" = "+strconv.Quote(made.Name))
		ops = append(ops, made)
		if order == 0 && (kind != "backward" || !of.saves()) { // nothing leads back through what is saved
			ops = append(ops, d.derivatives(made, 1, map[string]int{"grad": count["grad"], "tangent": count["tangent"]})...)
		}
		chance = 4
	}
	if of.still != "" && len(of.derived) > 0 {
		of.derived = append(of.derived, fmt.Sprintf("no_grad = [%q]", of.still))
	}
	return ops
}

// arguments are the inputs of floating point, as a derivative takes them.
func arguments(of *Op) (list []arg) {
	for _, in := range of.inputs {
		if in.dtype != "i32" {
			in.keys = ""
			list = append(list, in)
		}
	}
	return list
}

// moving are those that have a derivative.
func moving(of *Op) []arg {
	return slices.DeleteFunc(arguments(of), func(in arg) bool { return in.name == of.still })
}

// backward makes the op the one for gradients: of each input the sum over the results.
func (op *Op) backward(of *Op, prefix string) {
	for _, y := range of.outputs {
		switch {
		case y.saved:
			op.inputs = append(op.inputs, arg{name: y.name, dtype: y.dtype, lead: y.lead, dims: y.dims})
		case y.rule == "polynomial":
			op.inputs = append(op.inputs, arg{name: prefix + y.name, dtype: y.dtype, lead: y.lead, dims: y.dims, optional: y.present+y.flag != ""})
		}
	}
	for _, x := range moving(of) {
		g := arg{name: prefix + x.name, dtype: x.dtype, lead: x.lead, dims: x.dims, rule: "polynomial"}
		if x.optional {
			g.present = x.name
		}
		for _, y := range of.outputs {
			if y.saved {
				continue
			}
			for _, t := range y.terms {
				g.terms = append(g.terms, t.derive(x.name, prefix+y.name)...)
			}
		}
		if of.saves() && x.name == "x0" {
			g.terms = []term{{1, false, []string{"slope", prefix + "y0"}}}
		}
		op.outputs = append(op.outputs, g)
	}
}

// forward makes the op the one for tangents: of each result the sum over the inputs.
func (op *Op) forward(of *Op, prefix string) {
	for _, x := range moving(of) {
		op.inputs = append(op.inputs, arg{name: prefix + x.name, dtype: x.dtype, lead: x.lead, dims: x.dims, optional: x.optional})
	}
	for _, y := range of.outputs {
		if y.rule != "polynomial" || y.saved {
			continue
		}
		g := arg{name: prefix + y.name, dtype: y.dtype, lead: y.lead, dims: y.dims, rule: "polynomial", present: y.present, flag: y.flag}
		for _, t := range y.terms {
			for _, x := range moving(of) {
				g.terms = append(g.terms, t.derive(x.name, prefix+x.name)...)
			}
		}
		op.outputs = append(op.outputs, g)
	}
}

// derive differentiates a term by an input, for each place where it stands, and multiplies by another factor, if there is one.
func (t term) derive(by, factor string) (list []term) {
	for i, name := range t.of {
		if name == by {
			rest := slices.Concat(t.of[:i], t.of[i+1:])
			if factor != "" {
				rest = append(rest, factor)
			}
			list = append(list, term{t.factor, t.times, rest})
		}
	}
	return list
}
