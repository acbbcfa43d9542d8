// Package collection finds the mistakes that concern several ops of a project: names, numbers and types that two of them have.
package collection

import (
	"math"
	"slices"
	"strconv"

	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/code"
	"github.com/opcast/opcast/internal/language/opdef/derivative"
	"github.com/opcast/opcast/internal/language/opdef/layer"
	"github.com/opcast/opcast/internal/language/opdef/manifest"
	"github.com/opcast/opcast/internal/language/opdef/names"
	"github.com/opcast/opcast/internal/language/opdef/tomldoc"
)

// checkTypes finds types of the generated C++ that two ops share, or that a kernel has as its name.
func checkTypes(p *opdef.Project, diags *diag.List) {
	first := map[string]opdef.CPPType{}
	for _, op := range p.Ops {
		for _, t := range op.CPPTypes() {
			other, taken := first[t.Name]
			switch {
			case !taken:
				first[t.Name] = t
			case other.Op != t.Op: // ops of one name are reported already
				start := diag.Pos{File: op.File, Line: 1, Col: 1}
				diags.Add(start, code.Duplicate, "rename one of them", "in C++ %s is called %s, as %s is", t.What, t.Name, other.What)
			}
		}
	}
	for _, op := range p.Ops {
		for i, k := range op.Kernels {
			for _, function := range k.Functions() {
				if t, taken := first[function]; taken {
					diags.Add(op.Pos[tomldoc.Element("kernels", i)], code.Kernel, "rename the kernel", "in C++ %s is called %s, as a function of kernel %s is", t.What, t.Name, k.Name)
				}
			}
		}
	}
}

// NoKind is the kind of an op whose file gives none.
const NoKind = math.MinInt

// Check finds the mistakes that concern several ops.
func Check(p *opdef.Project, diags *diag.List) {
	byName, kinds := map[string]*opdef.Op{}, map[int]*opdef.Op{}
	for _, op := range p.Ops {
		start := diag.Pos{File: op.File, Line: 1, Col: 1}
		if first := byName[names.Pascal(op.Name)]; first != nil {
			diags.Add(start, code.Duplicate, "rename one of them", "op %s is also defined in %s", op.Name, first.File)
		} else {
			byName[names.Pascal(op.Name)] = op
		}
		checkKind(p, op, kinds, diags)
	}
	checkTypes(p, diags)
	derivative.Link(p, diags)
	layer.Names(p, diags)
}

func checkKind(p *opdef.Project, op *opdef.Op, kinds map[int]*opdef.Op, diags *diag.List) {
	pos, given := op.Pos["kind"]
	hint := func() string { return "the next free kind is " + strconv.Itoa(p.FreeKind()) }
	switch first := kinds[op.Kind]; {
	case op.Kind == NoKind && given: // reported already
	case op.Kind == NoKind:
		diags.Add(diag.Pos{File: op.File, Line: 1, Col: 1}, code.Missing, hint(), "missing key %q", "kind")
	case op.Kind < 0 || op.Kind > manifest.MaxKind:
		diags.Add(pos, code.Kind, hint(), "kind %d is not between 0 and %d", op.Kind, manifest.MaxKind)
	case first != nil:
		diags.Add(pos, code.Kind, hint(), "kind %d is already that of %s", op.Kind, first.Name)
	case slices.Contains(p.Manifest.Retired, op.Kind):
		diags.Add(pos, code.Retired, hint(), "kind %d is retired", op.Kind)
	}
	if kinds[op.Kind] == nil && op.Kind != NoKind {
		kinds[op.Kind] = op
	}
}
