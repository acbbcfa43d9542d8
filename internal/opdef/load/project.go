package load

import (
	"math"
	"slices"
	"strconv"

	"github.com/opcast/opcast/internal/diag"
	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/opdef/code"
	"github.com/opcast/opcast/internal/opdef/derivative"
	"github.com/opcast/opcast/internal/opdef/layer"
	"github.com/opcast/opcast/internal/opdef/manifest"
	"github.com/opcast/opcast/internal/opdef/names"
)

// noKind is the kind of an op whose file gives none.
const noKind = math.MinInt

// checkProject finds the mistakes that concern several ops.
func checkProject(p *opdef.Project, diags *diag.List) {
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
	case op.Kind == noKind && given: // reported already
	case op.Kind == noKind:
		diags.Add(diag.Pos{File: op.File, Line: 1, Col: 1}, code.Missing, hint(), "missing key %q", "kind")
	case op.Kind < 0 || op.Kind > manifest.MaxKind:
		diags.Add(pos, code.Kind, hint(), "kind %d is not between 0 and %d", op.Kind, manifest.MaxKind)
	case first != nil:
		diags.Add(pos, code.Kind, hint(), "kind %d is already that of %s", op.Kind, first.Name)
	case slices.Contains(p.Manifest.Retired, op.Kind):
		diags.Add(pos, code.Retired, hint(), "kind %d is retired", op.Kind)
	}
	if kinds[op.Kind] == nil && op.Kind != noKind {
		kinds[op.Kind] = op
	}
}
