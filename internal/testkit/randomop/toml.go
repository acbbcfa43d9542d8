package randomop

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// TOML is the text of the op's definition.
func (op *Op) TOML() string {
	var b strings.Builder
	fmt.Fprintf(&b, "doc = \"Made up.\"\nkind = %d\n", op.kind)
	for _, v := range slices.Sorted(maps.Keys(op.vars)) {
		fmt.Fprintf(&b, "dtypes.%s = [\"%s\"]\n", v, strings.Join(op.vars[v], `", "`))
	}
	op.arguments(&b)
	for _, line := range slices.Concat(op.lets, op.namedDims(), op.derived, op.others) {
		b.WriteString(line + "\n")
	}
	for _, key := range []struct {
		name string
		list []string
	}{{"require", op.requires}, {"parallel", op.parallel}, {"sums", op.sums}} {
		if len(key.list) > 0 {
			fmt.Fprintf(&b, "%s = [\"%s\"]\n", key.name, strings.Join(key.list, `", "`))
		}
	}
	if len(op.scratch) > 0 {
		b.WriteString("scratch = [\n")
		for _, s := range op.scratch {
			zeroed := map[bool]string{true: ", zeroed = true"}[s.zeroed]
			fmt.Fprintf(&b, "  { name = %q, type = \"u8[%s]\", doc = \"Work space.\"%s },\n", s.name, s.size, zeroed)
		}
		b.WriteString("]\n")
	}
	b.WriteString("reference = '''\n" + op.reference() + "'''\n")
	for _, k := range op.kernels {
		fmt.Fprintf(&b, "[[kernels]]\nname = %q\ndevice = \"cpu\"\n%s", k.name, k.keys)
		for i, values := range k.params {
			fmt.Fprintf(&b, "params.p%d = [%s]\n", i, strings.Trim(strings.ReplaceAll(fmt.Sprint(values), " ", ", "), "[]"))
		}
	}
	return b.String()
}

// arguments are the lines of inputs, attributes and outputs.
func (op *Op) arguments(b *strings.Builder) {
	b.WriteString("inputs = [\n")
	for _, a := range op.inputs {
		if a.optional {
			a.keys += ", optional = true"
		}
		if a.list != "" {
			a.keys += ", list = true"
		}
		fmt.Fprintf(b, "  { name = %q, type = %q, doc = \"An input.\"%s },\n", a.name, op.kindOf(&a), a.keys)
	}
	b.WriteString("]\nattrs = [\n")
	for _, a := range op.attrs {
		fmt.Fprintf(b, "  { name = %q, doc = \"An attribute.\", type = %s },\n", a.name, a.keys)
	}
	b.WriteString("]\noutputs = [\n")
	for _, a := range op.outputs {
		if condition := a.present + a.flag; condition != "" {
			a.keys += fmt.Sprintf(", present_if = %q", condition)
		}
		if a.saved {
			a.keys += ", saved = true"
		}
		if a.list != "" {
			a.keys += fmt.Sprintf(", list = %q", a.list)
		}
		fmt.Fprintf(b, "  { name = %q, type = %q, doc = \"A result.\"%s },\n", a.name, op.kindOf(&a), a.keys)
	}
	b.WriteString("]\n")
}

// namedDims are lets for the sizes that the reference needs: it knows lets, and no dims.
func (op *Op) namedDims() (lets []string) {
	for _, a := range slices.Concat(op.inputs, op.outputs) {
		for j, dim := range a.dims {
			if a.list != "" {
				continue // whose arrays have other sizes each
			}
			lets = append(lets, fmt.Sprintf("let.%s_%d = %q", a.name, j, dim))
		}
	}
	for j, dim := range op.space {
		lets = append(lets, fmt.Sprintf("let.space_%d = %q", j, dim))
	}
	for _, s := range op.scratch {
		lets = append(lets, fmt.Sprintf("let.%s_size = %q", s.name, s.size))
	}
	return lets
}

// number is what a "number" result holds: it follows from the attributes.
func (op *Op) number(choice func(a attr) string) string {
	terms := []string{"0"}
	for _, a := range op.attrs {
		if term := choice(a); term != "" {
			terms = append(terms, term)
		}
	}
	return strings.Join(terms, " + ")
}
