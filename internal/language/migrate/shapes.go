package migrate

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// anyFloat are the dtypes of an array of which nothing is known.
func anyFloat(string) []string { return []string{"f32", "f16", "bf16"} }

// shapes guesses types: from the sizes that a function on pointers takes, and from names.
func (o *op) shapes() {
	main := o.inputs[0]
	for _, a := range o.inputs {
		if !a.optional && !a.index() && !a.weight() {
			main = a
			break
		}
	}
	whole := "*, " + o.named("N")
	if len(o.order) > 0 {
		whole = strings.Join(o.order, ", ")
	}
	if main.list {
		whole = o.named("n")
	}
	for _, a := range o.inputs {
		a.typ = o.dtype(a, false) + "[" + o.inputDims(a, main, whole) + "]"
	}
	for _, a := range o.outputs {
		dims := whole
		switch {
		case a.list:
			dims = o.listed(a, main)
		case main.list:
			dims = "len(" + main.name + ")"
		}
		a.typ = o.dtype(a, true) + "[" + dims + "]"
	}
	o.fixCarried()
}

// inputDims are the dims of an input. Those of the main one are the whole; others have the last of them, or their own.
func (o *op) inputDims(a, main *argument, whole string) string {
	switch {
	case a == main:
		return whole
	case a.list || main.list || a.index() && len(o.order) == 0:
		return o.named("n_" + a.name)
	case a.index():
		return o.order[0]
	case a.weight():
		return whole[strings.LastIndexByte(whole, ' ')+1:]
	}
	return whole
}

// named is a free name of what has none in the source.
func (o *op) named(wanted string) string {
	before := len(o.renamed)
	name := o.free(wanted)
	o.renamed = o.renamed[:before]
	return name
}

// listed are the dims of a result that is a list: those of a list of the inputs. Without one, it is one array.
func (o *op) listed(a, main *argument) string {
	for _, in := range o.inputs {
		if in.list {
			a.listOf = in.name
			return in.typ[strings.IndexByte(in.typ, '[')+1 : len(in.typ)-1]
		}
	}
	a.list = false
	o.notes = append(o.notes, a.name+" is one array: how many arrays a list has follows from a list of the inputs")
	return main.typ[strings.IndexByte(main.typ, '[')+1 : len(main.typ)-1]
}

// index says whether an array holds integers that point somewhere.
func (a *argument) index() bool {
	if a.param.Pointer && a.param.Elem != "" {
		return slices.Contains([]string{"i32", "i64", "u32", "u64"}, a.param.Elem) && !a.param.Written
	}
	return !a.result && indexLike.MatchString(a.param.Name)
}

func (a *argument) weight() bool { return weightLike.MatchString(a.param.Name) }

// dtype is the dtype of an array, or the variable that stands for it.
func (o *op) dtype(a *argument, output bool) string {
	elem := a.param.Elem
	switch {
	case a.param.Pointer && o.fn.C != nil && slices.Contains(o.fn.C.template, elem):
		return o.variable(elem, o.instantiated)
	case a.param.Pointer && elem != "":
		return elem
	case output && o.bound() != "":
		return o.bound()
	case a.index():
		return o.variable("I", func(string) []string { return []string{"i32", "i64"} })
	default:
		return o.variable("T", anyFloat)
	}
}

// variable declares a dtype variable, unless there is one for the name.
func (o *op) variable(wanted string, oneOf func(string) []string) string {
	for _, v := range o.dtypes {
		if v.wanted == wanted {
			return v.name
		}
	}
	o.dtypes = append(o.dtypes, variable{wanted, o.named(wanted), oneOf(wanted)})
	return o.dtypes[len(o.dtypes)-1].name
}

// instantiated are the dtypes for which the author's template exists, as far as the sources say.
func (o *op) instantiated(param string) []string {
	var list []string
	for _, args := range o.fn.C.instances {
		parts := strings.Split(args, ",")
		i := slices.Index(o.fn.C.template, param)
		if i >= len(parts) {
			continue
		}
		name := strings.TrimSpace(parts[i])
		if base, _, _, _ := typeParts(lex(name)); strings.HasSuffix(base, "_t") && strings.Contains(name, " ") { // unsigned char
			name = base
		}
		switch elem := elements[name[strings.LastIndexByte(name, ':')+1:]]; {
		case elem == "":
			o.notes = append(o.notes, fmt.Sprintf("it is compiled for %s, too, of which nothing says what dtype it is", name))
		case o.held(name) && !slices.Contains(list, elem):
			list = append(list, elem)
		}
	}
	if len(list) == 0 {
		o.notes = append(o.notes, fmt.Sprintf("%s is f32 only: add the dtypes for which %s is compiled", param, o.fn.C.name))
		return []string{"f32"}
	}
	return list
}

// held says whether kernels of the device have this type of C++ for its dtype, so that the instance is the one that is called.
func (o *op) held(name string) bool {
	switch elements[name[strings.LastIndexByte(name, ':')+1:]] {
	case "f16", "bf16":
		return o.fn.Device != "cpu" && !strings.Contains(name, "::")
	case "f32", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32":
		return true
	}
	return false
}

// bound is the variable that an attribute sets.
func (o *op) bound() string {
	for _, a := range o.attrs {
		if a.binds != "" {
			return a.binds
		}
	}
	return ""
}

// fixCarried gives arrays a dtype whose variable no input that is always there carries.
func (o *op) fixCarried() {
	o.dropUnbound()
	var carried []variable
	for _, v := range o.dtypes {
		has := func(a *argument) bool { return !a.optional && strings.HasPrefix(a.typ, v.name+"[") }
		if slices.ContainsFunc(o.inputs, has) || v.name == o.bound() {
			carried = append(carried, v)
			continue
		}
		for _, a := range append(slices.Clone(o.inputs), o.outputs...) {
			if strings.HasPrefix(a.typ, v.name+"[") {
				a.guessed = true
				a.typ = v.oneOf[len(v.oneOf)-1] + strings.TrimPrefix(a.typ, v.name)
				if v.oneOf[0] == "f32" {
					a.typ = "f32" + a.typ[strings.IndexByte(a.typ, '['):]
				}
			}
		}
	}
	o.dtypes = carried
	for _, a := range o.attrs {
		if a.typ == "dtype" && a.value == `"T"` && !slices.ContainsFunc(carried, func(v variable) bool { return v.name == "T" }) {
			a.value = `"f32"`
		}
	}
}

// dropUnbound leaves out a dtype that no result has.
func (o *op) dropUnbound() {
	bound := o.bound()
	if bound == "" || slices.ContainsFunc(o.outputs, func(a *argument) bool { return strings.HasPrefix(a.typ, bound+"[") }) {
		return
	}
	o.dtypes = slices.DeleteFunc(o.dtypes, func(v variable) bool { return v.name == bound })
	o.attrs = slices.DeleteFunc(o.attrs, func(a *attribute) bool {
		if a.binds != "" {
			o.notes = append(o.notes, a.name+" is left out: no result has its dtype")
		}
		return a.binds != ""
	})
}

// attributeTypes are the types of attributes.
var attributeTypes = map[Kind]string{Int: "int", Float: "float", Bool: "bool", Str: "str", DType: "dtype", Ints: "int[]"}

// attribute takes a parameter that is no array.
func (o *op) attribute(i int, p Param) {
	if p.Kind == DType && o.bound() != "" {
		o.notes = append(o.notes, p.Name+" is left out: results have one dtype in a draft")
		return
	}
	a := &attribute{name: o.free(p.Name), typ: attributeTypes[p.Kind], optional: p.Optional}
	o.members[i] = a.name
	if p.Kind == Ints && p.Len > 0 {
		a.typ = fmt.Sprintf("int[%d]", p.Len)
	}
	if p.Kind == DType {
		o.dtypeAttribute(a, p)
	} else if p.Default != "" && (!p.Optional || p.quoted || !absent(p.Default)) {
		if value, ok := p.literal(); ok {
			a.value, a.optional = value, false
		} else {
			o.notes = append(o.notes, fmt.Sprintf("%s has no default here: %s is no value that a definition can hold", a.name, oneLine(p.Default)))
		}
	}
	o.attrs = append(o.attrs, a)
}

// dtypeAttribute lets a dtype choose that of the results. One that may be left out means the dtype of the inputs.
func (o *op) dtypeAttribute(a *attribute, p Param) {
	a.binds, a.optional = o.variable("O", anyFloat), false
	if p.Optional || p.Default != "" {
		a.value = `"T"`
	}
}

// absent says whether a default means that there is no value.
func absent(value string) bool {
	value = value[strings.LastIndexByte(value, ':')+1:]
	return value == "None" || value == "nullopt" || value == "none()" || value == "nullptr" || value == "NULL" || value == "{}"
}

// octal is a number that C++ reads in base 8, and Python not at all.
var octal = regexp.MustCompile(`^[-+]?0[0-9]+[uUlL]*$`)

// literal is the default as TOML has it.
func (p *Param) literal() (string, bool) {
	value := strings.TrimSpace(p.Default)
	if p.quoted != (p.Kind == Str) || octal.MatchString(value) && p.Kind != Str {
		return "", false
	}
	switch p.Kind {
	case Int:
		n, err := strconv.ParseInt(strings.TrimRight(value, "lLuU"), 10, 64)
		return strconv.FormatInt(n, 10), err == nil
	case Float:
		f, err := strconv.ParseFloat(strings.TrimRight(value, "fFlL"), 64)
		text := strconv.FormatFloat(f, 'g', -1, 64)
		if !strings.ContainsAny(text, ".e") {
			text += ".0"
		}
		return text, err == nil && f-f == 0
	case Bool:
		value = strings.ToLower(value)
		return value, value == "true" || value == "false"
	case Str:
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(p.text) + `"`, p.whole
	case Ints:
		return integers(p.Len, value)
	}
	return "", false
}

// integers is the default of an attribute that is a list: [1, 2], {1, 2}, or one number for all of them.
func integers(length int, value string) (string, bool) {
	var list []string
	for _, word := range strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune("[]{}(), ", r) }) {
		if _, err := strconv.ParseInt(word, 10, 64); err != nil || octal.MatchString(word) {
			return "", false
		}
		list = append(list, word)
	}
	if length > 0 && len(list) == 1 {
		return list[0], true
	}
	return "[" + strings.Join(list, ", ") + "]", length == 0 || len(list) == length
}
