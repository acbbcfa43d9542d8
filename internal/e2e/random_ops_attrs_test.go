package e2e

import (
	"fmt"
	"slices"
)

// attrs draws the attributes: of every type, with and without defaults, and some that may be absent.
func (r *randomOps) attrs() {
	for i := range r.IntN(4) {
		name := fmt.Sprintf("a%d", i)
		switch r.IntN(12) {
		case 0:
			r.op.attrs = append(r.op.attrs, randomAttr{name, `"int", min = ` + pick(r, "0", "1") + `, max = 9` + pick(r, "", ", default = 3"), "size"})
		case 1:
			r.op.attrs = append(r.op.attrs, randomAttr{name, `"int"` + pick(r, "", ", default = -2", ", min = -5, default = 7"), "number"})
		case 2:
			r.op.attrs = append(r.op.attrs, randomAttr{name, `"float"` + pick(r, "", ", default = 0.5", ", min = 0, default = 2"), "factor"})
		case 3:
			r.op.attrs = append(r.op.attrs, randomAttr{name, `"bool"` + pick(r, "", ", default = true"), "flag"})
		case 4:
			r.op.attrs = append(r.op.attrs, randomAttr{name, `"str", one_of = ["One", "tw_O"]` + pick(r, "", `, default = "tw_O"`), "choice"})
		case 5:
			r.op.attrs = append(r.op.attrs, randomAttr{name, `"int[2]", min = 0, max = 4` + pick(r, "", ", default = 1"), "pair"})
		case 6:
			if _, ok := r.op.vars["O"]; !ok {
				r.op.vars["O"] = r.dtypes()
				r.op.attrs = append(r.op.attrs, randomAttr{name, `"dtype", binds = "O"` + pick(r, "", `, default = "`+r.op.vars["O"][0]+`"`), "dtype"})
			}
		case 7:
			r.op.attrs = append(r.op.attrs, randomAttr{name, `"int", optional = true, min = -3, max = 9`, "maybe number"})
		case 8:
			r.op.attrs = append(r.op.attrs, randomAttr{name, `"str", optional = true, one_of = ["One", "tw_O"]`, "maybe choice"})
		case 9:
			r.op.attrs = append(r.op.attrs, randomAttr{name, `"int[]", min = 0, max = 4` + pick(r, "", ", default = []", ", default = [2, 1]"), "list"})
		case 10:
			r.op.attrs = append(r.op.attrs, randomAttr{name, pick(r, `"float"`, `"bool"`, `"int[2]"`) + `, optional = true`, "maybe"})
		case 11:
			r.op.attrs = append(r.op.attrs, randomAttr{name, `"int[]", optional = true, max = 7`, "maybe"})
		}
	}
}

// sizes are the names of which sizes are made: attributes, too.
func (r *randomOps) sizes() []string {
	names := slices.Clone(r.dims)
	for _, a := range r.op.attrs {
		switch a.use {
		case "size":
			names = append(names, a.name)
		case "pair":
			names = append(names, a.name+"[1]")
		case "list":
			names = append(names, "sum("+a.name+")", "len("+a.name+")")
		}
	}
	if len(names) == 0 {
		return []string{"2"}
	}
	return names
}

// choice is a condition on attributes; "" if there are none for one.
func (r *randomOps) choice() string {
	var all []string
	for _, a := range r.op.attrs {
		switch a.use {
		case "flag":
			all = append(all, a.name, "not "+a.name)
		case "choice":
			all = append(all, a.name+" == 'One'", a.name+` != 'tw_O'`)
		case "size", "number":
			all = append(all, a.name+" > 2")
		case "factor":
			all = append(all, a.name+" > 0.25", a.name+" <= 1")
		case "list":
			all = append(all, "len("+a.name+") > 1")
		}
	}
	if len(all) == 0 {
		return ""
	}
	return pick(r, all...)
}
