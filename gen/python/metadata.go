package python

import (
	"slices"

	"github.com/opcast/opcast/internal/dtype"
	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/rule"
	"github.com/opcast/opcast/internal/transform"
)

// Meta is the op's entry in the table of metadata.
func (v *function) Meta() string {
	var dtypes []node
	for _, d := range v.DTypes {
		dtypes = append(dtypes, tupleNode(quote(d.Name)+": ", quoted(rule.Long(d.OneOf))))
	}
	devices := slices.DeleteFunc(slices.Clone(v.Devices), func(device string) bool {
		return !slices.ContainsFunc(v.KernelList(), func(k opdef.Kernel) bool { return k.On(device) })
	})
	items := []node{
		leaf("name=" + quote(v.Name)),
		leaf("kind=OpKind." + v.Pascal()),
		leaf("doc=" + quote(v.Op.Doc)),
		leaf("file=" + quote(v.File)),
		leaf("schema=" + v.PyHash()),
		{"dtypes={", dtypes, "}"},
		tupleNode("devices=", quoted(devices)),
		tupleNode("inputs=", metaArgs(v.Op, v.Inputs)),
		tupleNode("attrs=", metaAttrs(v.Attrs)),
		tupleNode("outputs=", metaArgs(v.Op, v.Outputs)),
		tupleNode("parallel=", quoted(v.ParallelDims())),
		tupleNode("sums=", quoted(v.Sums)),
		tupleNode("vmap=", metaMerges(v.Op)),
		leaf("call=" + quote(Signature(v.Op))),
		tupleNode("facts=", metaFacts(v.Op)),
		tupleNode("kernels=", metaKernels(v.Op)),
	}
	if len(v.Scratch) > 0 {
		items = append(items, tupleNode("scratch=", metaArgs(v.Op, v.Scratch)))
	}
	if v.Autocast != "" && v.Autocast != opdef.Autocasts[0] {
		items = append(items, leaf("autocast="+quote(v.Autocast)))
	}
	items = append(items, v.links()...)
	return node{quote(v.Name) + ": Op(", items, ")"}.print("    ", ",")
}

// links name the ops of derivatives, and the op of which this one is a derivative.
func (v *function) links() []node {
	var out []node
	for _, link := range []struct {
		key string
		to  *opdef.Op
	}{{"backward", v.Gradient}, {"gradient_of", v.GradientOf}, {"forward", v.Tangent}, {"tangent_of", v.TangentOf}} {
		if link.to != nil {
			out = append(out, leaf(link.key+"="+quote(link.to.Name)))
		}
	}
	if prefix := v.GradPrefix(); v.Gradient != nil && prefix != "grad_" {
		out = append(out, leaf("grad_prefix="+quote(prefix)))
	}
	if prefix := v.TangentPrefix(); v.Tangent != nil && prefix != "tangent_" {
		out = append(out, leaf("tangent_prefix="+quote(prefix)))
	}
	return out
}

// AllDTypes are the rows of the table of dtypes.
func (v *packageView) AllDTypes() []dtype.DType { return dtype.Table }

// HasAttrs says whether some op has attributes.
func (v *packageView) HasAttrs() bool {
	return slices.ContainsFunc(v.Ops, func(op *function) bool { return len(op.Attrs) > 0 })
}

func quoted(texts []string) []node {
	out := make([]node, len(texts))
	for i, t := range texts {
		out[i] = leaf(quote(t))
	}
	return out
}

func metaAttrs(attrs []opdef.Attr) []node {
	var out []node
	for i := range attrs {
		a := &attrs[i]
		items := []string{quote(a.Name), quote(a.Type), quote(a.Doc), boolText(!a.HasDefault)}
		if value := defaultValue(a); value != "None" {
			items = append(items, value)
		}
		nodes := leaves(items)
		if len(a.OneOf) > 0 {
			nodes = append(nodes, tupleNode("one_of=", quoted(a.OneOf)))
		}
		out = append(out, node{"Attr(", nodes, ")"})
	}
	return out
}

func metaArgs(op *opdef.Op, args []opdef.Arg) []node {
	var out []node
	for _, a := range args {
		items := []string{quote(a.Name), quote(a.Type.Text), quote(a.Doc)}
		for _, flag := range []struct {
			name string
			set  bool
		}{{"optional", a.Optional}, {"mutated", a.Mutated}, {"saved", a.Saved}, {"list", a.List && a.Per == ""}} {
			if flag.set {
				items = append(items, flag.name+"=True")
			}
		}
		if a.Stride != "" {
			items = append(items, "stride="+quote(a.Stride))
		}
		if own := ownDims(op, &a); len(own) > 0 {
			items = append(items, "own="+quotedTuple(own))
		}
		if a.Per != "" {
			items = append(items, "per="+quote(a.Per))
		}
		if a.PresentIf != "" {
			items = append(items, "present_if="+quote(a.PresentIf))
		}
		nodes := leaves(items)
		if len(a.Dims()) > 0 {
			nodes = append(nodes, tupleNode("dims=", quoted(a.Dims())))
		}
		out = append(out, node{"Arg(", nodes, ")"})
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

func metaKernels(op *opdef.Op) []node {
	var out []node
	for _, k := range op.KernelList() {
		for _, device := range k.Devices {
			items := quoted([]string{k.Name, device})
			out = append(out, tupleNode("", append(items, leaf(boolText(k.Scratch)))))
		}
	}
	return out
}

// metaMerges lists the ways to map a call without a loop: a dim, and the inputs that have it.
func metaMerges(op *opdef.Op) []node {
	var out []node
	for _, m := range transform.Merges(op) {
		out = append(out, tupleNode("", []node{leaf(quote(m.Dim)), tupleNode("", quoted(m.Inputs))}))
	}
	return out
}

// metaFacts are the texts of the op's page on transformations.
func metaFacts(op *opdef.Op) []node {
	var out []node
	for _, f := range transform.Facts(op) {
		out = append(out, tupleNode("", quoted([]string{f.Topic, transform.Plain(f.Text)})))
	}
	return out
}
