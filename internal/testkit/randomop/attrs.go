package randomop

import (
	"fmt"
	"slices"
)

// attrs draws the attributes: of every type, with and without defaults, and some that may be absent.
func (d *Drawer) attrs() {
	for i := range d.random.IntN(4) {
		a := attr{name: fmt.Sprintf("a%d", i)}
		switch d.random.IntN(14) {
		case 0, 1:
			a.keys, a.use, a.value = `"int", min = `+pick(d, "0", "1")+`, max = 9`+pick(d, "", ", default = 3"), "size", "2"
		case 2:
			a.keys, a.use, a.value = `"int"`+pick(d, "", ", default = -2", ", min = -5, default = 7", ", one_of = [1, 4]", ", one_of = [-3, 1], default = -3"), "number", "1"
		case 3:
			a.keys, a.use, a.value = `"float"`+pick(d, "", ", default = 0.5", ", min = 0, default = 2"), "factor", "0.5"
		case 4:
			a.keys, a.use, a.value = `"bool"`+pick(d, "", ", default = true"), "flag", "false"
		case 5, 6:
			a.keys, a.use, a.value = `"str", one_of = ["One", "tw_O"`+pick(d, "", `, "three"`)+`]`+pick(d, "", `, default = "tw_O"`), "choice", `"One"`
		case 7:
			a.keys, a.use, a.value = `"int[2]", min = 0, max = 4`+pick(d, "", ", default = 1"), "pair", "[1, 2]"
		case 8:
			if _, ok := d.op.vars["O"]; ok {
				continue
			}
			d.op.vars["O"] = d.dtypes()
			a.keys, a.use = `"dtype", binds = "O"`+pick(d, "", `, default = "`+d.op.vars["O"][0]+`"`), "dtype"
		case 9:
			a.keys, a.use = `"int", optional = true, `+pick(d, "min = -3, max = 9", "one_of = [-2, 7]"), "maybe number"
		case 10:
			a.keys, a.use = `"str", optional = true, one_of = ["One", "tw_O"]`, "maybe choice"
		case 11:
			a.keys, a.use, a.value = `"int[]", min = 0, max = 4`+pick(d, "", ", default = []", ", default = [2, 1]"), "list", "[1, 3]"
		case 12:
			a.keys, a.use = pick(d, `"float"`, `"bool"`, `"int[2]"`, `"int[]"`)+`, optional = true`, "maybe"
		case 13:
			a.keys, a.use = `"str"`+pick(d, "", `, default = "any"`), "text"
			a.value = `"words"`
			if !slices.ContainsFunc(d.op.attrs, func(other attr) bool { return other.name == "mode" }) {
				a.name = "mode" // as functions of PyTorch call an argument
			}
		}
		d.op.attrs = append(d.op.attrs, a)
	}
}

// computed draws an attribute whose default follows from sizes, where there are some.
func (d *Drawer) computed() {
	if len(d.dims) > 0 && d.often(1) {
		size := pick(d, d.dims...)
		keys := pick(d, `"int", default = "`+size+` + 1"`, `"float", default = "0.5 * `+size+`"`)
		d.op.attrs = append(d.op.attrs, attr{name: "late", keys: keys, use: "computed", value: "2"})
	}
}

// sizes are the names of which sizes are made: attributes, too.
func (d *Drawer) sizes() []string {
	names := slices.Clone(d.dims)
	for _, a := range d.op.attrs {
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

// flag is an attribute that can switch an output on; "" if there is none.
func (d *Drawer) flag() string {
	i := slices.IndexFunc(d.op.attrs, func(a attr) bool { return a.use == "flag" })
	if i < 0 {
		return ""
	}
	return d.op.attrs[i].name
}

// choice is a condition on attributes; "" if there are none for one.
func (d *Drawer) choice() string {
	var all []string
	for _, a := range d.op.attrs {
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
	return pick(d, all...)
}
