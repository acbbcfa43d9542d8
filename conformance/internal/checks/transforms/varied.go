package transforms

import (
	"fmt"
	"slices"
	"strings"

	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/transformed"
	"github.com/opcast/opcast/internal/language/opdef"
)

// variedDims are the dims of which compiled programs must not depend: the leading ones and those declared as parallel, or
// the first size that stands alone.
func variedDims(op *opdef.Op) []string {
	dims := slices.Clone(op.Parallel)
	if lead := op.Lead(); lead != "" && !slices.Contains(dims, lead) {
		dims = append([]string{lead}, dims...)
	}
	if len(dims) > 0 {
		return dims
	}
	for _, name := range cases.Symbols(op) {
		if standsAlone(op, name) {
			return []string{name}
		}
	}
	return nil
}

// standsAlone reports whether a size is a dim of an input, and no dim of an input is computed from it: frameworks give a
// name to the size of a dim, and know nothing of the arithmetic between dims.
func standsAlone(op *opdef.Op, name string) bool {
	alone := false
	for _, in := range op.Inputs {
		here := false
		for _, d := range in.Type.Dims {
			switch {
			case d.Is(name) && here && in.Mutated: // which PyTorch exports for one size only
				return false
			case d.Is(name):
				alone, here = true, true
			case d.Expr != nil && slices.Contains(d.Expr.Symbols(), name):
				return false
			}
		}
	}
	return alone
}

// variedSizes differ from each other and from the sizes of other dims: equal ones might be taken for one size.
var variedSizes = []int64{13, 17, 19, 23, 29, 31, 37, 41, 43}

// variedCases are calls that differ in the sizes of some dims.
func variedCases(t *check.T, d cases.DTypes, dims []string, without []string) []*cases.Case {
	var out []*cases.Case
	for k := range 3 {
		p := cases.Plan{Name: fmt.Sprint("varied ", k), DTypes: d, Batch: []int64{2, 2}, Sizes: map[string]int64{}, Without: without}
		for i, dim := range dims {
			n := variedSizes[(k*len(dims)+i)%len(variedSizes)]
			if opdef.IsLead(dim) {
				p.Batch[0] = n
			} else {
				p.Sizes[dim] = n
			}
		}
		if c, err := t.SampledCase(p); err == nil {
			out = append(out, c)
		}
	}
	return out
}

// axisName is the name of a variable size in a framework.
func axisName(dim string) string {
	if opdef.IsLead(dim) {
		return "rows"
	}
	return strings.NewReplacer("[", "__", "]", "").Replace(dim) // that of an array of a list: n[0]
}

// variableAxes are the axes, by number, of an argument whose sizes vary.
func variableAxes(c *cases.Case, a *opdef.Arg, dims []string) map[int]string {
	out := map[int]string{}
	for _, dim := range dims {
		for _, at := range transformed.AxesIn(c, a, dim) {
			out[at] = axisName(dim)
		}
	}
	return out
}
