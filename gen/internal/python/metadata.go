package python

import (
	"fmt"
	"slices"

	"github.com/opcast/opcast/gen/internal/python/layout"
	"github.com/opcast/opcast/gen/internal/python/stub"
	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/derivative"
	"github.com/opcast/opcast/internal/language/opdef/expr"
	"github.com/opcast/opcast/internal/language/rule"
	"github.com/opcast/opcast/internal/language/transform"
)

// Meta is the op's entry in the table of metadata.
func (v *function) Meta() string {
	var dtypes []layout.Node
	for _, d := range v.DTypes {
		dtypes = append(dtypes, layout.TupleNode(layout.Quote(d.Name)+": ", quoted(rule.Long(d.OneOf))))
	}
	devices := slices.DeleteFunc(slices.Clone(v.Devices), func(device string) bool {
		return !slices.ContainsFunc(v.KernelList(), func(k opdef.Kernel) bool { return k.On(device) })
	})
	items := []layout.Node{
		layout.Leaf("name=" + layout.Quote(v.Name)),
		layout.Leaf("kind=OpKind." + v.Pascal()),
		layout.Leaf("doc=" + layout.Quote(v.Op.Doc)),
		layout.Leaf("file=" + layout.Quote(v.File)),
		layout.Leaf("schema=" + v.PyHash()),
		layout.List("dtypes={", dtypes, "}"),
		layout.TupleNode("devices=", quoted(devices)),
		layout.TupleNode("inputs=", metaArgs(v.Op, v.Inputs)),
		layout.TupleNode("attrs=", metaAttrs(v.Attrs)),
		layout.TupleNode("outputs=", metaArgs(v.Op, v.Outputs)),
		layout.TupleNode("parallel=", quoted(v.ParallelDims())),
		layout.TupleNode("sums=", quoted(v.Sums)),
		layout.TupleNode("vmap=", metaMerges(v.Op)),
		layout.Leaf("call=" + layout.Quote(Signature(v.Op))),
		layout.TupleNode("facts=", metaFacts(v.Op)),
		layout.TupleNode("kernels=", metaKernels(v.Op)),
	}
	if len(v.Scratch) > 0 {
		items = append(items, layout.TupleNode("scratch=", metaArgs(v.Op, v.Scratch)))
	}
	if v.Autocast != "" && v.Autocast != opdef.Autocasts[0] {
		items = append(items, layout.Leaf("autocast="+layout.Quote(v.Autocast)))
	}
	items = append(items, v.links()...)
	return layout.List(layout.Quote(v.Name)+": Op(", items, ")").Print("    ", ",")
}

// links name the ops of derivatives, and the op of which this one is a derivative.
func (v *function) links() []layout.Node {
	var out []layout.Node
	for _, link := range []struct {
		key string
		to  *opdef.Op
	}{{"backward", v.Gradient}, {"gradient_of", v.GradientOf}, {"forward", v.Tangent}, {"tangent_of", v.TangentOf}} {
		if link.to != nil {
			out = append(out, layout.Leaf(link.key+"="+layout.Quote(link.to.Name)))
		}
	}
	if prefix := v.GradPrefix(); v.Gradient != nil && prefix != "grad_" {
		out = append(out, layout.Leaf("grad_prefix="+layout.Quote(prefix)))
	}
	if prefix := v.TangentPrefix(); v.Tangent != nil && prefix != "tangent_" {
		out = append(out, layout.Leaf("tangent_prefix="+layout.Quote(prefix)))
	}
	if names := derivative.Without(v.Op); len(names) > 0 {
		out = append(out, layout.TupleNode("no_grad=", quoted(names)))
	}
	if len(v.Order) > 0 {
		out = append(out, layout.TupleNode("order=", quoted(v.Order)))
	}
	return out
}

// AllDTypes are the rows of the table of dtypes.
func (v *packageView) AllDTypes() []dtype.DType { return dtype.Table }

// HasAttrs says whether some op has attributes.
func (v *packageView) HasAttrs() bool {
	return slices.ContainsFunc(v.Ops, func(op *function) bool { return len(op.Attrs) > 0 })
}

func quoted(texts []string) []layout.Node {
	out := make([]layout.Node, len(texts))
	for i, t := range texts {
		out[i] = layout.Leaf(layout.Quote(t))
	}
	return out
}

func metaAttrs(attrs []opdef.Attr) []layout.Node {
	var out []layout.Node
	for i := range attrs {
		a := &attrs[i]
		items := []string{layout.Quote(a.Name), layout.Quote(a.Type), layout.Quote(a.Doc), layout.BoolText(!a.HasDefault)}
		if value := defaultValue(a); value != "None" {
			items = append(items, value)
		}
		nodes := layout.Leaves(items)
		if values := stub.Values(a); len(values) > 0 {
			nodes = append(nodes, layout.TupleNode("one_of=", layout.Leaves(values)))
		}
		out = append(out, layout.List("Attr(", nodes, ")"))
	}
	return out
}

func metaArgs(op *opdef.Op, args []opdef.Arg) []layout.Node {
	var out []layout.Node
	for _, a := range args {
		items := []string{layout.Quote(a.Name), layout.Quote(a.Type.Text), layout.Quote(a.Doc)}
		for _, flag := range []struct {
			name string
			set  bool
		}{{"optional", a.Optional}, {"mutated", a.Mutated}, {"saved", a.Saved}, {"list", a.List && a.Per == ""}} {
			if flag.set {
				items = append(items, flag.name+"=True")
			}
		}
		if a.Stride != "" {
			items = append(items, "stride="+layout.Quote(a.Stride))
		}
		if n := op.Alignment(&a); n > 1 {
			items = append(items, fmt.Sprint("align=", n))
		}
		if own := ownDims(op, &a); len(own) > 0 {
			items = append(items, "own="+quotedTuple(own))
		}
		for _, word := range [][2]string{{"per", a.Per}, {"present_if", a.PresentIf}, {"packs", a.Packs}} {
			if word[1] != "" {
				items = append(items, word[0]+"="+layout.Quote(word[1]))
			}
		}
		if op.TakesNumber(&a) {
			items = append(items, "number="+layout.Quote(numberOf(op, &a)))
			if low, high := constant(a.Min), constant(a.Max); low+high != "NoneNone" {
				items = append(items, "bounds="+layout.Tuple([]string{low, high}))
			}
		}
		nodes := layout.Leaves(items)
		if len(a.Dims()) > 0 {
			nodes = append(nodes, layout.TupleNode("dims=", quoted(a.Dims())))
		}
		out = append(out, layout.List("Arg(", nodes, ")"))
	}
	return out
}

// ownDims are the dims that each array of a list has for itself.
func ownDims(op *opdef.Op, a *opdef.Arg) []string {
	var out []string
	for _, d := range a.Type.Dims {
		differs := d.Expr != nil && slices.ContainsFunc(d.Expr.Numbers(), op.Differs)
		if a.List && (d.Leading() && a.Own || differs) {
			out = append(out, d.Text())
		}
	}
	return out
}

func metaKernels(op *opdef.Op) []layout.Node {
	var out []layout.Node
	for _, k := range op.KernelList() {
		for _, device := range k.Devices {
			items := quoted([]string{k.Name, device})
			out = append(out, layout.TupleNode("", append(items, layout.Leaf(layout.BoolText(k.Scratch)))))
		}
	}
	return out
}

// metaMerges lists the ways to map a call without a loop: a dim, and the inputs that have it.
func metaMerges(op *opdef.Op) []layout.Node {
	var out []layout.Node
	for _, m := range transform.Merges(op) {
		out = append(out, layout.TupleNode("", []layout.Node{layout.Leaf(layout.Quote(m.Dim)), layout.TupleNode("", quoted(m.Inputs))}))
	}
	return out
}

// metaFacts are the texts of the op's page on transformations.
func metaFacts(op *opdef.Op) []layout.Node {
	var out []layout.Node
	for _, f := range transform.Facts(op) {
		out = append(out, layout.TupleNode("", quoted([]string{f.Topic, transform.Plain(f.Text)})))
	}
	return out
}

// numberOf is the dtype of a number in the place of an input, or the name of the array before it that has the dtype.
func numberOf(op *opdef.Op, in *opdef.Arg) string {
	if in.Type.Var == "" {
		return rule.Long([]string{in.Type.DType})[0]
	}
	if giver := op.NumberGiver(in); giver != nil {
		return giver.Name
	}
	i := slices.IndexFunc(op.DTypes, func(d opdef.DTypeVar) bool { return d.Name == in.Type.Var })
	return rule.Long(op.DTypes[i].OneOf)[0]
}

// constant is a bound that depends on nothing, "None" where there is none.
func constant(bound *expr.Expr) string {
	if bound == nil || len(bound.Symbols()) > 0 {
		return "None"
	}
	value, err := bound.EvalExact(expr.NoValues{})
	if err != nil {
		return "None"
	}
	if value.IsInt() {
		return value.Num().String()
	}
	f, _ := value.Float64()
	return floatText(f)
}
