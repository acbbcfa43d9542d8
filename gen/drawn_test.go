package gen_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/opcast/opcast/internal/language/dtype"
)

// drawn is a definition that is made up at random, as the text of its file.
type drawn struct{ name, text string }

// drawnArg is an input or output of such a definition.
type drawnArg struct {
	name, kind string
	optional   bool
	presentIf  string
	saved      bool
}

// drawer makes definitions up. Most are ones that opcast check accepts; all names come from a list of nasty ones.
type drawer struct {
	*rand.Rand
	// words are what names are drawn from.
	words []string
	kind  int

	used map[string]bool
	// What the definition under way has so far.
	vars, carried, dims, ints, optional []string
	// What the gradient op repeats: the arguments, attributes, lets and dtypes.
	gradient               bool
	args, results          []drawnArg
	keptAttrs, lets, lists []string
	// late are sizes that outputs may use beside the dims: lets.
	late []string
	// known are the dims that inputs have.
	known []string
	// lead is "*", "..." or "", the leading dims of the arguments that have some.
	lead string
}

// choose draws one of the items.
func choose[T any](d *drawer, items ...T) T { return items[d.IntN(len(items))] }

// often is true in so many of ten cases.
func (d *drawer) often(tenths int) bool { return d.IntN(10) < tenths }

// ops draws an op, and with some luck its gradient, too.
func (d *drawer) ops() []drawn {
	d.used, d.late, d.optional, d.ints = map[string]bool{}, nil, nil, nil
	d.known, d.carried, d.dims = nil, nil, nil
	d.args, d.results, d.keptAttrs, d.lets, d.lists = nil, nil, nil, nil, nil
	name := d.opName()
	d.gradient = d.often(3)
	var b, body strings.Builder
	d.kind++
	fmt.Fprintf(&b, "doc = %s\nkind = %d\n", d.doc(), d.kind)
	d.dtypeVars()
	for range 1 + d.IntN(4) {
		d.dims = append(d.dims, d.word())
	}
	d.attrs(&body)
	d.inputs(&body)
	d.dims = d.known
	d.names(&body)
	d.outputs(&body)
	d.rest(&body)
	for _, v := range d.vars {
		d.lists = append(d.lists, v+" = "+quotedList(unique(d.dtypeList())))
	}
	for _, v := range d.carried {
		d.lists = append(d.lists, v+" = "+quotedList(unique(append(d.dtypeList(), "f32"))))
	}
	if len(d.lists) > 0 {
		fmt.Fprintf(&b, "dtypes = { %s }\n", strings.Join(d.lists, ", "))
	}
	if !d.gradient {
		return []drawn{{name, b.String() + body.String()}}
	}
	fmt.Fprintf(&b, "backward = %q\n", name+"_grad")
	return []drawn{{name, b.String() + body.String()}, {name + "_grad", d.backward()}}
}

func (d *drawer) word() string {
	for {
		w := choose(d, d.words...)
		if d.often(1) {
			w += choose(d, "_shape", "_ints", "_layout", "_lead", "1", "2", "_strides", "_sizes", "_s", "_t", "_lets", "_args", "_types")
		}
		if !d.used[w] {
			d.used[w] = true
			return w
		}
	}
}

func (d *drawer) opName() string {
	for {
		w := d.word()
		if w == strings.ToLower(w) {
			return w
		}
	}
}

func (d *drawer) dtypeVars() {
	d.vars = nil
	for range d.IntN(4) {
		d.vars = append(d.vars, d.word())
	}
}

func (d *drawer) dtypeList() []string {
	if d.often(6) {
		return []string{"f32", "f16", "bf16"}[:1+d.IntN(3)]
	}
	var list []string
	for range 1 + d.IntN(4) {
		list = append(list, choose(d, dtype.Table...).Short)
	}
	return list
}

func unique(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

func quotedList(list []string) string {
	quoted := make([]string, len(list))
	for i, s := range list {
		quoted[i] = strconv.Quote(s)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// dtype is a variable or a fixed dtype.
func (d *drawer) dtype() string {
	if len(d.vars) > 0 && d.often(8) {
		return choose(d, d.vars...)
	}
	return choose(d, "f32", "f32", "i32", "i64", "bf16", "bool", choose(d, dtype.Table...).Short)
}

// inputs draws the inputs, which introduce the sizes.
func (d *drawer) inputs(b *strings.Builder) {
	d.lead = choose(d, "*", "*", "...", "...", "")
	b.WriteString("inputs = [\n")
	n := max(1+d.IntN(4), len(d.vars))
	required := max(n-d.IntN(3), 1, len(d.vars))
	for i := range n {
		kind := d.dtype()
		if i < len(d.vars) {
			kind = d.vars[i]
		}
		if i >= required && len(d.carried) > 0 && d.often(3) {
			kind = d.carried[0]
		}
		var dims []string
		if d.lead != "" && (i == 0 || i < required && d.often(4)) {
			dims = append(dims, d.lead)
		}
		for j := range 1 + d.IntN(3) {
			dims = append(dims, d.inputDim(i, j))
		}
		name, keys := d.word(), ""
		if i >= required {
			keys += ", optional = true"
			d.optional = append(d.optional, name)
		} else if !d.gradient && dims[0] != "..." && d.often(1) {
			keys += ", mutated = true"
		}
		d.args = append(d.args, drawnArg{name: name, kind: kind + "[" + strings.Join(dims, ", ") + "]", optional: i >= required})
		if d.often(2) {
			keys += ", stride = " + choose(d, `"last"`, `"any"`)
		}
		if d.often(2) {
			keys += choose(d, ", min = 0", ", min = -1.5, max = 2", ", min = 0, max = "+strconv.Quote(d.dims[0]+" - 1"), ", max = "+strconv.Quote("0.5 * "+choose(d, append(d.ints, d.dims[0])...)), ", sorted = true")
		}
		fmt.Fprintf(b, "  { name = %q, type = %q, doc = %s%s },\n", name, kind+"["+strings.Join(dims, ", ")+"]", d.doc(), keys)
	}
	b.WriteString("]\n")
}

// inputDim is a dim of input i; the first input has plain ones, so that most sizes are known.
func (d *drawer) inputDim(i, j int) string {
	name := d.dims[(i+j)%len(d.dims)]
	if !slices.Contains(d.known, name) {
		d.known = append(d.known, name)
		return name
	}
	if d.often(5) {
		return name
	}
	return d.size(name)
}

// size is an expression that has the given size.
func (d *drawer) size(name string) string {
	other := choose(d, append(slices.Clone(d.known), d.ints...)...)
	return choose(d, "2*"+name, name+" + 1", name+"*"+other, "3*"+name+" + "+other, name+" - 1",
		"ceildiv("+name+", 2)", "max("+name+", "+other+", 3)", "min("+name+", 7)", name+" ** 2", name+" // 2", name+" % 3 + 1", "-(-"+name+" // 4)",
		"("+name+" + 2*"+other+" - "+d.known[0]+"*("+other+" - 1) - 1) // 3 + 1", strconv.Itoa(d.IntN(4)))
}

// attrs draws the attributes.
func (d *drawer) attrs(b *strings.Builder) {
	n := d.IntN(4)
	if n == 0 {
		return
	}
	b.WriteString("attrs = [\n")
	for range n {
		name := d.word()
		keys := d.attr(name)
		if d.often(1) {
			v := d.word()
			d.carried = append(d.carried, v)
			keys = fmt.Sprintf(`"dtype", binds = %q`, v) + choose(d, "", `, default = "f32"`)
		}
		line := fmt.Sprintf("  { name = %q, doc = %s, type = %s },\n", name, d.doc(), keys)
		b.WriteString(line)
		if !strings.HasPrefix(keys, `"dtype"`) {
			d.keptAttrs = append(d.keptAttrs, line)
		}
	}
	b.WriteString("]\n")
}

// attr is the type of an attribute, and the keys that go with it.
func (d *drawer) attr(name string) string {
	switch d.IntN(9) {
	case 0:
		d.ints = append(d.ints, name)
		return `"int", default = 3, min = 1`
	case 1:
		d.ints = append(d.ints, name)
		return `"int"` + choose(d, "", ", default = -9223372036854775808", ", min = -9223372036854775808, max = 9223372036854775807, default = 9223372036854775807")
	case 2:
		return `"float"` + choose(d, "", ", default = 1e-6, min = 0", ", default = 1e300, max = 1e308", ", default = -0.0", ", default = 1e20, min = -1e19", ", default = 1")
	case 3:
		return `"bool"` + choose(d, "", ", default = true")
	case 4:
		return `"str"` + choose(d, "", ", default = "+tomlText(choose(d, nastyTexts...)))
	case 5:
		words := unique([]string{choose(d, nastyChoices...), choose(d, nastyChoices...), "plain"})
		return `"str", one_of = ` + quotedList(words) + choose(d, "", `, default = "plain"`)
	case 6:
		d.ints = append(d.ints, name+"[0]")
		return `"int[2]"` + choose(d, "", ", default = [1, 2]", ", default = 0, min = 0", ", default = [-9223372036854775808, 3]")
	case 7:
		return `"int[3]", default = 1, min = -2, max = 5`
	}
	size := choose(d, append(slices.Clone(d.ints), d.dims[0])...)
	return choose(d, `"int", default = "2 + 1"`, `"float", default = "2 ** -0.5"`, `"float", default = "`+size+` ** -0.5 + -7 // 2 * 9223372036854775807"`,
		`"int", default = "`+size+` * 2"`, `"float", default = "0.5 * `+size+` // 3 % 2.5", max = 9`)
}

// names draws lets and requirements.
func (d *drawer) names(b *strings.Builder) {
	for range d.IntN(3) {
		name := d.word()
		size := d.size(choose(d, append(slices.Clone(d.late), d.dims...)...))
		if d.often(2) {
			for range 6 {
				size = "(" + size + ") + " + d.size(choose(d, d.dims...))
			}
		}
		line := fmt.Sprintf("let.%s = %q\n", name, size)
		b.WriteString(line)
		d.lets = append(d.lets, line)
		d.late = append(d.late, name)
	}
	if d.often(3) {
		one, other := d.size(choose(d, d.dims...)), d.size(choose(d, d.dims...))
		if d.often(2) {
			one, other = d.dims[0], d.dims[0]
		}
		fmt.Fprintf(b, "require = [%q]\n", one+choose(d, " > ", " == ", " <= ", " != ")+other+choose(d, "", " or not "+one+" < 7", " and "+other+" >= 0"))
	}
}
