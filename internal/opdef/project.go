package opdef

import (
	"math"
	"slices"
	"strconv"

	"github.com/opcast/opcast/internal/diag"
)

const (
	// maxKind bounds the numbers of ops: OpKind is 16 bits wide.
	maxKind = 1<<16 - 1
	// noKind is the kind of an op whose file gives none.
	noKind = math.MinInt
)

// FreeKind returns the smallest kind above all that are or were in use.
func (p *Project) FreeKind() int {
	used := slices.Clone(p.Manifest.Retired)
	for _, op := range p.Ops {
		used = append(used, op.Kind)
	}
	next := 0
	for _, kind := range used {
		if 0 <= kind && kind <= maxKind {
			next = max(next, kind+1)
		}
	}
	return next
}

// checkProject finds the mistakes that concern several ops.
func checkProject(p *Project, diags *diag.List) {
	names, kinds := map[string]*Op{}, map[int]*Op{}
	for _, op := range p.Ops {
		start := diag.Pos{File: op.File, Line: 1, Col: 1}
		if first := names[Pascal(op.Name)]; first != nil {
			diags.Add(start, codeDuplicate, "rename one of them", "op %s is also defined in %s", op.Name, first.File)
		} else {
			names[Pascal(op.Name)] = op
		}
		checkKind(p, op, kinds, diags)
		checkBackward(p, op, diags)
	}
}

func checkKind(p *Project, op *Op, kinds map[int]*Op, diags *diag.List) {
	pos, given := op.Pos["kind"]
	hint := func() string { return "the next free kind is " + strconv.Itoa(p.FreeKind()) }
	switch first := kinds[op.Kind]; {
	case op.Kind == noKind && given: // reported already
	case op.Kind == noKind:
		diags.Add(diag.Pos{File: op.File, Line: 1, Col: 1}, codeMissing, hint(), "missing key %q", "kind")
	case op.Kind < 0 || op.Kind > maxKind:
		diags.Add(pos, codeKind, hint(), "kind %d is not between 0 and %d", op.Kind, maxKind)
	case first != nil:
		diags.Add(pos, codeKind, hint(), "kind %d is already that of %s", op.Kind, first.Name)
	case slices.Contains(p.Manifest.Retired, op.Kind):
		diags.Add(pos, codeRetired, hint(), "kind %d is retired", op.Kind)
	}
	if kinds[op.Kind] == nil && op.Kind != noKind {
		kinds[op.Kind] = op
	}
}

// checkBackward holds a gradient op against its forward op: it draws its inputs from grad_OUTPUT, the inputs, the
// outputs and the attributes there, and gives grad_INPUT.
func checkBackward(p *Project, op *Op, diags *diag.List) {
	if op.Backward == "" {
		return
	}
	pos := op.Pos["backward"]
	if slices.ContainsFunc(op.Inputs, func(a Arg) bool { return a.Mutated }) {
		diags.Add(pos, codeMutated, "make the op functional", "an op that overwrites inputs cannot have a gradient")
	}
	i := slices.IndexFunc(p.Ops, func(o *Op) bool { return o.Name == op.Backward })
	if i < 0 {
		names := make([]string, len(p.Ops))
		for i, o := range p.Ops {
			names[i] = o.Name
		}
		diags.Add(pos, codeBackward, didYouMean(op.Backward, names, "define it in opdefs/"), "there is no op %q", op.Backward)
		return
	}
	backward := p.Ops[i]
	known, gradients := map[string]bool{}, map[string]bool{}
	for _, in := range op.Inputs {
		known[in.Name], gradients["grad_"+in.Name] = true, true
	}
	for _, out := range op.Outputs {
		known[out.Name], known["grad_"+out.Name] = true, known["grad_"+out.Name] || !out.Saved
	}
	for i, in := range backward.Inputs {
		if !known[in.Name] {
			hint := didYouMean(in.Name, keys(known), "inputs are grad_OUTPUT, or inputs and outputs of "+op.Name)
			diags.Add(backward.Pos[join(element("inputs", i), "name")], codeGradient, hint, "%s gives no %s to its gradient", op.Name, in.Name)
		}
	}
	for i, out := range backward.Outputs {
		if !gradients[out.Name] {
			hint := didYouMean(out.Name, keys(gradients), "outputs are grad_INPUT")
			diags.Add(backward.Pos[join(element("outputs", i), "name")], codeGradient, hint,
				"%s is the gradient of no input of %s", out.Name, op.Name)
		}
	}
	checkGradientAttrs(op, backward, diags)
}

func checkGradientAttrs(op, backward *Op, diags *diag.List) {
	for i, attr := range backward.Attrs {
		same := func(a Attr) bool { return a.Name == attr.Name && a.Type == attr.Type }
		if !slices.ContainsFunc(op.Attrs, same) {
			diags.Add(backward.Pos[join(element("attrs", i), "name")], codeGradient, "a gradient has only attributes of its forward op",
				"%s has no %s attribute %s", op.Name, attr.Type, attr.Name)
		}
	}
}
