package opdef

import (
	"math"
	"slices"
	"strconv"

	"github.com/opcast/opcast/internal/diag"
)

// noKind is the kind of an op whose file gives none.
const noKind = math.MinInt

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
	}
	linkGradients(p, diags)
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
