package transform

import (
	"fmt"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/language/opdef"
)

// Fact is what a page or the command line says about one transformation. Names stand between backticks.
type Fact struct{ Topic, Text string }

// Facts says how an op behaves under each transformation, in the order of the pages.
func Facts(op *opdef.Op) []Fact {
	facts := []Fact{{"gradient", gradientText(op)}}
	if op.Tangent != nil {
		facts = append(facts, Fact{"forward mode", Names([]string{op.Tangent.Name}) + ", with tangents of " + Names(moved(op))})
	}
	facts = append(facts, Fact{"vmap", vmapText(op)}, Fact{"sharding", shardingText(op)})
	if text := invarianceText(op); text != "" {
		facts = append(facts, Fact{"batch invariance", text})
	}
	if len(op.Mutated()) > 0 {
		facts = append(facts, Fact{"mutation", mutationText(op)})
	}
	if text := autocastText(op); text != "" {
		facts = append(facts, Fact{"autocast", text})
	}
	return append(facts, Fact{"copies", copiesText(op)})
}

// invarianceText says along which dims a row has the same bits alone as in any batch, and which kernels do not keep that; nothing
// where an op has no such dims.
func invarianceText(op *opdef.Op) string {
	dims := op.ParallelDims()
	if !op.Deterministic || len(dims) == 0 {
		return ""
	}
	text := "along " + Names(dims)
	for _, k := range op.KernelList() {
		if len(k.Breaks) > 0 {
			text += "; " + Names([]string{k.Name}) + " may give a part of a call along " + joined(k.Breaks, "or") + " other bits than the whole"
		}
	}
	return text
}

// Plain is a text without backticks.
func Plain(text string) string { return strings.ReplaceAll(text, "`", "") }

// Names lists names between backticks: "`a`, `b` and `c`".
func Names(names []string) string { return joined(names, "and") }

func joined(names []string, word string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = "`" + n + "`"
	}
	if len(quoted) < 2 {
		return strings.Join(quoted, "")
	}
	last := len(quoted) - 1
	return strings.Join(quoted[:last], ", ") + " " + word + " " + quoted[last]
}

// autocastText says which dtypes inputs have under autocast; nothing where that changes none. Those that are overwritten keep
// theirs.
func autocastText(op *opdef.Op) string {
	var texts []string
	for _, v := range op.DTypes {
		var all, cast []string
		for _, i := range op.Sharing(v.Name) {
			all = append(all, op.Inputs[i].Name)
			if !op.Inputs[i].Mutated {
				cast = append(cast, op.Inputs[i].Name)
			}
		}
		how := op.AutocastOf(v.Name)
		if len(cast) == 0 || len(all) == 1 && how == opdef.Autocasts[0] {
			continue
		}
		to := map[string]string{"lower": "the dtype of autocast", "float32": "float32", "widest": "the widest of their dtypes"}[how]
		if len(cast) < len(all) {
			to = "the widest dtype of " + Names(all)
		}
		texts = append(texts, Names(cast)+" cast to "+to)
	}
	return strings.Join(texts, "; ")
}

func gradientText(op *opdef.Op) string {
	switch {
	case op.Gradient == nil && op.TangentOf != nil:
		return "none: it gives the tangents of " + Names([]string{op.TangentOf.Name})
	case op.Gradient == nil && op.GradientOf != nil:
		return "none: it is the gradient of " + Names([]string{op.GradientOf.Name}) + last(op)
	case op.Gradient == nil:
		return "none"
	}
	text := Names([]string{op.Gradient.Name}) + ", with respect to " + Names(Differentiable(op))
	if rest := NotDifferentiable(op); len(rest) > 0 {
		text += ", not to " + Names(rest)
	}
	if saved := op.Saved(); len(saved) > 0 {
		text += "; " + Names(opdef.ArgNames(saved)) + " saved for it"
	}
	if op.Broadcasts() {
		text += "; summed along dims to which an input was broadcast"
	}
	return text + "; " + order(op)
}

// order says whether the gradients of an op can be differentiated again.
func order(op *opdef.Op) string {
	switch g := op.Gradient; {
	case g.Gradient != nil:
		return "its own gradient is " + Names([]string{g.Gradient.Name})
	case g.Tangent != nil:
		return "its own tangents are " + Names([]string{g.Tangent.Name})
	}
	return "of first order, in reverse mode"
}

// last ends the text on a gradient op without a gradient.
func last(op *opdef.Op) string {
	if op.GradientOf.GradientOf == nil {
		return ", and gradients are of first order"
	}
	return ", and no gradient of a higher order is defined"
}

// moved lists the inputs of op of which its op of tangents takes tangents.
func moved(op *opdef.Op) []string {
	var out []string
	for _, o := range TangentOf(op).Operands {
		if o.From == FromTangent {
			out = append(out, op.Inputs[o.Index].Name)
		}
	}
	return out
}

const loop = "a loop over slices"

func vmapText(op *opdef.Op) string {
	text := mergedText(op)
	if mutated := op.Mutated(); len(mutated) > 0 {
		text += "; " + Names(opdef.ArgNames(mutated)) + " must be mapped"
	}
	return text
}

// mergedText says which inputs can be mapped without a loop.
func mergedText(op *opdef.Op) string {
	sets := inputSets(op)
	loops := Loops(op)
	switch {
	case len(sets) == 0:
		return loop
	case len(sets) == 1 && len(loops) == 0:
		return "merged"
	case len(sets) == 1:
		return "merged over " + Names(sets[0]) + "; " + loop + " when " + joined(loops, "or") + " is mapped"
	}
	over := make([]string, len(sets))
	for i, set := range sets {
		over[i] = "over " + Names(set)
	}
	return "merged " + strings.Join(over, ", or ") + "; else " + loop
}

// inputSets are the inputs of each Merge, without those that another one covers.
func inputSets(op *opdef.Op) [][]string {
	var sets [][]string
	covers := func(big, small []string) bool {
		return !slices.ContainsFunc(small, func(name string) bool { return !slices.Contains(big, name) })
	}
	for _, m := range Merges(op) {
		if slices.ContainsFunc(sets, func(s []string) bool { return covers(s, m.Inputs) }) {
			continue
		}
		sets = slices.DeleteFunc(sets, func(s []string) bool { return covers(m.Inputs, s) })
		sets = append(sets, m.Inputs)
	}
	return sets
}

func shardingText(op *opdef.Op) string {
	var along, gathered, parts []string
	for _, f := range Factors(op) {
		if f.Role == Gathered {
			gathered = append(gathered, f.Dim)
		} else {
			along = append(along, f.Dim)
		}
	}
	if len(along) > 0 {
		parts = append(parts, "along "+Names(along))
	}
	parts = append(parts, partialTexts(op)...)
	if len(gathered) > 0 {
		parts = append(parts, Names(gathered)+" gathered")
	}
	if len(parts) == 0 {
		return "none: no argument has dims"
	}
	return strings.Join(parts, "; ")
}

// partialTexts says which outputs are sums over which dims; outputs that are sums over the same ones share a text.
func partialTexts(op *opdef.Op) []string {
	var dims []string
	outputs := map[string][]string{}
	for _, out := range op.Outputs {
		var over []string
		for _, f := range Factors(op) {
			if slices.Contains(f.Partial, out.Name) {
				over = append(over, f.Dim)
			}
		}
		if len(over) == 0 {
			continue
		}
		key := Names(over)
		if len(outputs[key]) == 0 {
			dims = append(dims, key)
		}
		outputs[key] = append(outputs[key], out.Name)
	}
	for i, key := range dims {
		dims[i] = Names(outputs[key]) + " summed over " + key
	}
	return dims
}

func mutationText(op *opdef.Op) string {
	names := opdef.ArgNames(op.Mutated())
	text := Names(names) + " " + map[bool]string{true: "is", false: "are"}[len(names) == 1]
	return text + " overwritten and returned; apart from every other argument; new arrays in JAX, in the memory of donated ones"
}

// copiesText says which inputs are copied, and when.
func copiesText(op *opdef.Op) string {
	var dense, last, parts []string
	for _, a := range Copies(op) {
		switch a.Stride {
		case "last":
			last = append(last, a.Name)
		case "":
			dense = append(dense, a.Name)
		}
		if n := op.Alignment(&a); n > 1 {
			parts = append(parts, fmt.Sprintf("%s when its address is no multiple of %d", Names([]string{a.Name}), n))
		}
	}
	if len(dense) > 0 {
		parts = append(parts, Names(dense)+" when not contiguous")
	}
	if len(last) > 0 {
		parts = append(parts, Names(last)+" when the last dimension is not contiguous")
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, "; ")
}
