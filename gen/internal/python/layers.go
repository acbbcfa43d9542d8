package python

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/opcast/opcast/gen/internal/python/layout"
	"github.com/opcast/opcast/gen/internal/view"
	"github.com/opcast/opcast/internal/language/framework"
	"github.com/opcast/opcast/internal/language/opdef"
)

// layers gives the ops as modules of PyTorch. They follow the rules for layers of Hugging Face kernels: each is a class
// with nothing but forward, which borrows the members of the module that it stands in for.
func layers(c *view.Collection, fw framework.Framework) view.Draft {
	all := &layersView{Header: view.Header()}
	for _, op := range c.Ops {
		for i := range op.Layers {
			if l := &op.Layers[i]; !l.Implied || op.DerivedFrom() == nil {
				all.Layers = append(all.Layers, &layer{torchOp{function{op, fw}}, l})
			}
		}
	}
	slices.SortFunc(all.Layers, func(a, b *layer) int { return strings.Compare(a.Class(), b.Class()) })
	return view.Draft{Template: fw.Layers.Template, Path: path.Join(adaptorDir(c, fw.Name), "layers.py"), Data: all}
}

// layersView is the module of all layers.
type layersView struct {
	Header string
	Layers []*layer
}

// All is the list of exported names; those in capitals only come first, as ruff sorts them.
func (v *layersView) All() string {
	var names, others []string
	for _, l := range v.Layers {
		if name := l.Class(); len(name) > 1 && name == strings.ToUpper(name) {
			names = append(names, layout.Quote(name))
		} else {
			others = append(others, layout.Quote(name))
		}
	}
	names = append(names, others...)
	return layout.Bracketed("", "__all__ = [", names, "]")
}

// Ops are the names of the functions that the layers call, in order.
func (v *layersView) Ops() []string {
	var names []string
	for _, l := range v.Layers {
		names = append(names, l.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// layer is an op as a module of PyTorch.
type layer struct {
	torchOp
	def *opdef.Layer
}

// Class is the name of the class.
func (l *layer) Class() string { return l.def.Name }

// HasBackward says whether gradients go through the layer.
func (l *layer) HasBackward() string { return layout.BoolText(l.Gradient != nil) }

// Declaration is the call that says what the layer stands in for.
func (l *layer) Declaration() string {
	items := []layout.Node{layout.Leaf(l.Name)}
	add := func(key string, list []layout.Node) {
		if len(list) > 0 {
			items = append(items, layout.TupleNode(key+"=", list))
		}
	}
	var inputs, attrs, expects []layout.Node
	for _, a := range l.def.Inputs {
		if a.Data {
			inputs = append(inputs, layout.Leaf("None"))
		} else {
			inputs = append(inputs, l.argument(a))
		}
	}
	for _, a := range l.def.Attrs {
		if a.Value != nil || len(a.Reads) > 0 {
			attrs = append(attrs, l.argument(a))
		}
	}
	for _, s := range l.def.Expects {
		var values []layout.Node
		for _, v := range s.Values {
			values = append(values, layout.Leaf(Literal(v)))
		}
		expects = append(expects, layout.TupleNode("", []layout.Node{layout.Leaf(layout.Quote(s.Name)), layout.TupleNode("", values)}))
	}
	add("inputs", inputs)
	add("attrs", attrs)
	if l.def.Module != "" {
		items = append(items, layout.Leaf("module="+layout.Quote(l.def.Module)))
	}
	add("classes", quotes(l.def.Classes))
	add("expects", expects)
	add("ignores", quotes(l.def.Ignores))
	items = append(items, l.shapes()...)
	add("joins", quotes(l.def.Joins))
	if l.def.Then != "" {
		items = append(items, layout.Leaf("then="+layout.Quote(l.def.Then)))
	}
	return layout.List("@_rt.layer(", items, ")").Print("", "")
}

// shapes says how the data of a module becomes that of the op.
func (l *layer) shapes() (items []layout.Node) {
	x := &l.Inputs[0]
	if l.def.Rows {
		own := len(slices.DeleteFunc(slices.Clone(x.Type.Dims), opdef.Dim.Leading))
		items = append(items, layout.Leaf(fmt.Sprintf("behind=%d", own-1)))
		if x.Type.Lead() != "" {
			items = append(items, layout.Leaf("leading=True"))
		}
	}
	if l.def.Trailing != "" {
		items = append(items, layout.Leaf("trailing="+layout.Quote(l.def.Trailing)))
	}
	return items
}

// argument says where an argument of the op comes from that the caller of the layer does not give.
func (l *layer) argument(a opdef.LayerArg) layout.Node {
	items := []layout.Node{layout.Leaf(layout.Quote(a.Name))}
	if len(a.Reads) > 0 {
		items = append(items, layout.TupleNode("", quotes(a.Reads)))
	}
	if a.Absent != nil {
		items = append(items, layout.Leaf("absent="+Literal(a.Absent)))
	}
	if a.Value != nil {
		items = append(items, layout.Leaf("value="+Literal(a.Value)))
	}
	if a.Flat {
		items = append(items, layout.Leaf("flat=True"))
	}
	return layout.List("_rt.Arg(", items, ")")
}

func quotes(words []string) (out []layout.Node) {
	for _, w := range words {
		out = append(out, layout.Leaf(layout.Quote(w)))
	}
	return out
}

// Literal is a value of an attribute as Python writes it.
func Literal(value any) string { return defaultValue(&opdef.Attr{HasDefault: true, Default: value}) }

// Doc is the docstring of the class, without quotes and indentation.
func (l *layer) Doc() []string {
	d := &view.Docstring{Width: docWidth}
	d.Paragraph("", l.Op.Doc)
	if stands := append(strings.Fields(l.def.Module), l.def.Classes...); len(stands) > 0 {
		d.Add("")
		d.Paragraph("", "Stands in for "+strings.Join(stands, ", ")+".")
	}
	first := true
	item := func(names []string, kind string, sentences ...string) {
		if first {
			d.Section("Attributes")
		}
		first = false
		d.Item(strings.Join(names, " or ")+" : "+kind, sentences...)
	}
	for i, a := range l.def.Inputs {
		if in := &l.Inputs[i]; !a.Data && in.Optional {
			item(a.Reads, "torch.Tensor | None", in.Doc, l.shapeText(in))
		} else if !a.Data {
			item(a.Reads, "torch.Tensor", in.Doc, l.shapeText(in))
		}
	}
	for i, a := range l.def.Attrs {
		if attr := &l.Attrs[i]; len(a.Reads) > 0 {
			item(a.Reads, attrText(attr), attr.Doc, rangeText(attr))
		}
	}
	return d.Lines
}

// Docstring is the class's docstring, indented, with its quotes.
func (l *layer) Docstring() string {
	lines := l.Doc()
	if len(lines) == 1 && !strings.HasSuffix(lines[0], `"`) {
		return `    """` + lines[0] + `"""`
	}
	text := strings.Join(lines, "\n    ")
	return strings.ReplaceAll(`    """`+text+"\n    \"\"\"", "\n    \n", "\n\n")
}

// data are the names of the inputs that the caller gives.
func (l *layer) data(suffix func(*opdef.Arg) string) (names []string) {
	for i, a := range l.def.Inputs {
		if a.Data {
			names = append(names, a.Name+suffix(&l.Inputs[i]))
		}
	}
	return names
}

// Head is the head of forward, which takes the data.
func (l *layer) Head() string {
	hint := func(a *opdef.Arg) string {
		if a.Optional {
			return ": Tensor | None = None"
		}
		return ": Tensor"
	}
	return layout.Bracketed("    ", "def forward(", append([]string{"self"}, l.data(hint)...), ") -> "+l.result("Tensor")+":")
}

// Call is the call of the op.
func (l *layer) Call() string {
	args := append([]string{l.Class(), "self"}, l.data(func(*opdef.Arg) string { return "" })...)
	return layout.Bracketed("        ", "return _rt.call(", args, ")")
}
