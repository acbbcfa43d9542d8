package randomop

import (
	"fmt"
	"slices"
)

// lists draws an op of lists of arrays: copies of them, their rows one after the other, how many rows each has, and lists that
// are overwritten. The arrays have leading dims of their own, or a number of rows.
func (d *Drawer) lists() *Op {
	op := d.op
	op.vars["T"] = d.dtypes()
	rows := d.often(6)
	if rows {
		op.own = []string{"n"}
	}
	for i := range 1 + d.random.IntN(3) {
		x := arg{name: fmt.Sprintf("x%d", i), dtype: d.dtype([]string{"T"}), dims: []string{"*"}}
		if i == 0 {
			x.dtype = "T"
		}
		if x.list = x.name; rows {
			x.dims[0] = "n"
		}
		for range d.random.IntN(3) {
			if len(d.dims) == 0 || d.often(4) {
				d.newDim()
			}
			x.dims = append(x.dims, pick(d, d.dims...))
		}
		if d.often(4) {
			x.mutated, x.rule = true, "flip"
			x.keys = ", mutated = true"
		}
		op.inputs = append(op.inputs, x)
	}
	d.besideLists()
	d.ofLists(rows)
	d.ownSizes()
	if rows {
		op.requires = append(op.requires, pick(d, "sum(n) >= 2", "len(x0) <= 80", "sum(n) >= len(x0)"))
		d.rest()
	}
	return op
}

// besideLists draws single arrays beside lists, of which some may be left out, and copies of them.
func (d *Drawer) besideLists() {
	optional := false
	for _, name := range []string{"w", "u"} {
		if !d.often(3) {
			continue
		}
		a := arg{name: name, dtype: d.dtype([]string{"T"}), dims: []string{d.newDim()}}
		optional = optional || d.often(2)
		copied := arg{name: name + "_copy", dtype: a.dtype, dims: a.dims, rule: "copy", from: a.name}
		if a.optional = optional; optional {
			copied.present = a.name
		}
		d.op.outputs, d.op.inputs = append(d.op.outputs, copied), append(d.op.inputs, a)
	}
}

// ownSizes finds the sizes that lists alone have: they differ from one array to the next, so that nothing else can use them.
func (d *Drawer) ownSizes() {
	shared := map[string]bool{}
	for _, a := range slices.Concat(d.op.inputs, d.op.outputs) {
		for _, name := range a.dims {
			shared[name] = shared[name] || a.list == ""
		}
	}
	for _, name := range d.dims {
		if !shared[name] {
			d.op.own = append(d.op.own, name)
		}
	}
	d.dims = slices.DeleteFunc(d.dims, func(name string) bool { return !shared[name] })
}

// ofLists draws what is computed from lists; those that are overwritten are results themselves.
func (d *Drawer) ofLists(rows bool) {
	op := d.op
	for _, in := range slices.Clone(op.inputs) {
		if in.list == "" || in.mutated {
			continue
		}
		y := arg{name: "y" + in.name[1:], dtype: in.dtype, from: in.name}
		switch {
		case rows && d.often(3):
			y.rule, y.dims = "join", append([]string{"sum(n)"}, in.dims[1:]...)
		case rows && d.often(3):
			y.rule, y.dims, y.dtype = "lengths", []string{"len(" + in.name + ")"}, "i64"
		default:
			y.rule, y.dims, y.list = "each", slices.Clone(in.dims), in.list
		}
		op.outputs = append(op.outputs, y)
	}
}

// count is how many elements array number i of a list has, in C++.
func (a *arg) count() string {
	text := "int64_t{1}"
	for _, name := range a.dims {
		if name == "*" {
			name = "batch"
		}
		text += fmt.Sprintf(" * fit::At(args.%s, i)", name)
	}
	return text
}

// cppOfList is the statement that makes a result from the arrays of a list.
func (op *Op) cppOfList(a *arg) string {
	from := a
	if a.from != "" {
		from = op.input(a.from)
	}
	loop := fmt.Sprintf("for (size_t i = 0; i < args.%s.size(); ++i) ", from.name)
	read := fmt.Sprintf("fit::Read(args.%s[i], 1, %s, %s)", from.name, from.count(), op.tag(from.dtype))
	switch a.rule {
	case "each":
		return loop + fmt.Sprintf("fit::Copy(args.%s[i], 1, %s, %s);", a.name, from.count(), read)
	case "flip":
		return loop + fmt.Sprintf("fit::Write(args.%s[i], fit::Reversed(%s), nullptr);", a.name, read)
	case "lengths":
		return loop + fmt.Sprintf("args.%s[i] = args.n[i];", a.name)
	}
	return fmt.Sprintf("{\n    auto* next = static_cast<char*>(static_cast<void*>(args.%s));\n    %s{\n      const fit::Rows part = %s;\n"+
		"      if (!part.bytes.empty()) std::memcpy(next, part.bytes.data(), part.bytes.size());\n      next += part.bytes.size();\n    }\n  }",
		a.name, loop, read)
}

// forLast spoils the last array of a list.
func (op *Op) forLast(a *arg) string {
	return fmt.Sprintf("{\n    const size_t i = args.%s.size() - 1;\n    fit::Spoil(args.%s[i], %s, %s);\n  }", a.name, a.name, a.count(), op.tag(a.dtype))
}
