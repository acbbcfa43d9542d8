package python

import (
	"path"
	"slices"
	"strings"

	"github.com/opcast/opcast/gen/view"
	"github.com/opcast/opcast/internal/framework"
	"github.com/opcast/opcast/internal/opdef"
)

// initialisms are the words that class names write in their usual form.
var initialisms = map[string]string{
	"fft": "FFT", "fp8": "FP8", "gqa": "GQA", "gru": "GRU", "kv": "KV", "lstm": "LSTM", "mha": "MHA", "mla": "MLA",
	"mlp": "MLP", "moe": "MoE", "nms": "NMS", "rms": "RMS", "rope": "RoPE", "topk": "TopK",
}

// layers gives the ops as modules of PyTorch. They follow the rules for layers of Hugging Face kernels: each is a class
// with nothing but forward, which borrows the members of the module that it stands in for.
func layers(c *view.Collection, fw framework.Framework) view.Draft {
	all := &layersView{Header: view.Header()}
	for _, op := range c.Ops {
		if op.DerivedFrom() == nil && len(op.Mutated()) == 0 && !op.HasLists() {
			all.Layers = append(all.Layers, &layer{torchOp{function{op, fw}}})
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

// All is the list of exported names.
func (v *layersView) All() string {
	var names []string
	for _, l := range v.Layers {
		names = append(names, quote(l.Class()))
	}
	return bracketed("", "__all__ = [", names, "]")
}

// Ops are the names of the functions that the layers call, in order.
func (v *layersView) Ops() []string {
	var names []string
	for _, l := range v.Layers {
		names = append(names, l.Name)
	}
	slices.Sort(names)
	return names
}

// Imports are the lines that bring in what the annotations name.
func (v *layersView) Imports() []string {
	uses := func(is func(*opdef.Attr) bool) bool {
		return slices.ContainsFunc(v.Layers, func(l *layer) bool {
			return slices.ContainsFunc(l.Attrs, func(a opdef.Attr) bool { return is(&a) })
		})
	}
	var standard []string
	if uses(func(a *opdef.Attr) bool { return a.Len != 0 }) {
		standard = append(standard, "from collections.abc import Sequence")
	}
	if uses(func(a *opdef.Attr) bool { return a.Type == "dtype" }) {
		standard = append(standard, "from typing import Any")
	}
	if len(standard) > 0 {
		standard = append(standard, "")
	}
	if len(v.Layers) == 0 {
		return standard
	}
	return append(standard, "from torch import Tensor", "from torch.nn import Module")
}

// layer is an op as a module of PyTorch.
type layer struct{ torchOp }

// Class is the name of the class: the op's in camel case, with initialisms in upper case.
func (l *layer) Class() string {
	var b strings.Builder
	for _, word := range strings.Split(l.Name, "_") {
		if known, ok := initialisms[word]; ok {
			word = known
		}
		b.WriteString(view.Pascal(word))
	}
	return b.String()
}

// HasBackward says whether gradients go through the layer.
func (l *layer) HasBackward() string { return boolText(l.Gradient != nil) }

// data says whether an input is data and no parameter: what shares the leading or parallel dims of the first input.
func (l *layer) data(a *opdef.Arg) bool {
	var spread []string
	for _, dim := range append([]string{l.Lead()}, l.Parallel...) {
		if l.Inputs[0].Has(dim) {
			spread = append(spread, dim)
		}
	}
	return len(spread) == 0 || slices.ContainsFunc(spread, a.Has)
}

// Members are the annotations of what the layer reads from itself.
func (l *layer) Members() []string {
	var out []string
	for i := range l.Inputs {
		if a := &l.Inputs[i]; !l.data(a) {
			out = append(out, a.Name+": "+optionalHint(a, "Tensor"))
		}
	}
	for i := range l.Attrs {
		hint, _, _ := strings.Cut(parameter(&l.Attrs[i], "Any"), " = ")
		out = append(out, hint)
	}
	return out
}

func optionalHint(a *opdef.Arg, hint string) string {
	if a.Optional {
		return hint + " | None"
	}
	return hint
}

// Doc is the docstring of the class, without quotes and indentation.
func (l *layer) Doc() []string {
	d := &docText{}
	d.paragraph("", l.Op.Doc)
	if len(l.Members()) == 0 {
		return d.lines
	}
	d.section("Attributes")
	for i := range l.Inputs {
		if a := &l.Inputs[i]; !l.data(a) {
			d.item(a.Name+" : "+optionalHint(a, "torch.Tensor"), a.Doc, l.shapeText(a))
		}
	}
	for i := range l.Attrs {
		a := &l.Attrs[i]
		d.item(a.Name+" : "+attrText(a), a.Doc, rangeText(a))
	}
	return d.lines
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

// Head is the head of forward, which takes the data.
func (l *layer) Head() string {
	args := []string{"self"}
	for i := range l.Inputs {
		if a := &l.Inputs[i]; l.data(a) && a.Optional {
			args = append(args, a.Name+": Tensor | None = None")
		} else if l.data(a) {
			args = append(args, a.Name+": Tensor")
		}
	}
	return bracketed("    ", "def forward(", args, ") -> "+l.result("Tensor")+":")
}

// Call is the call of the op.
func (l *layer) Call() string {
	var args []string
	for i := range l.Inputs {
		switch a := &l.Inputs[i]; {
		case l.data(a):
			args = append(args, a.Name)
		case a.Optional:
			args = append(args, `getattr(self, "`+a.Name+`", None)`)
		default:
			args = append(args, "self."+a.Name)
		}
	}
	for i := range l.Attrs {
		a := &l.Attrs[i]
		if a.HasDefault {
			args = append(args, a.Name+`=getattr(self, "`+a.Name+`", `+defaultValue(a)+")")
		} else {
			args = append(args, a.Name+"=self."+a.Name)
		}
	}
	return bracketed("        ", "return "+l.Name+"(", args, ")")
}
