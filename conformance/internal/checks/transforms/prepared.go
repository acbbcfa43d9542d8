package transforms

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
)

// PreparedCall is a call of an op and its gradient: arguments, and what must come out.
type PreparedCall struct {
	C *cases.Case
	// Wrt are the places, among the inputs that are given, of those whose gradients are wanted.
	Wrt       []int
	Arguments calls.Arrays
	// Results, and the gradients at wrt.
	Results, Gradients []*ndarray.Array
}

// Expected are all arrays that must come out, results first.
func (p *PreparedCall) Expected() []*ndarray.Array { return slices.Concat(p.Results, p.Gradients) }

// Prepare computes what a case must give. With gradients it wants those of all inputs that have one; name distinguishes
// the contents of the cotangents.
func Prepare(t *check.T, c *cases.Case, gradients bool, name string) (*PreparedCall, error) {
	p := &PreparedCall{C: c, Wrt: []int{}, Arguments: calls.Arrays{Inputs: calls.InputTensors(c)}}
	if gradients {
		p.Wrt = DifferentiableInputs(c)
	}
	if len(p.Wrt) == 0 {
		made, err := BareCall(t, c)
		if err != nil {
			return nil, err
		}
		p.Results = made.Results(c.Op)
		return p, nil
	}
	cotangents, err := RandomCotangents(t, c, name)
	if err != nil {
		return nil, err
	}
	return p, Differentiated(t, p, cotangents)
}

// Differentiated fills in what the cotangents give.
func Differentiated(t *check.T, p *PreparedCall, cotangents []*ndarray.Array) error {
	results, all, err := BareGradient(t, p.C, cotangents)
	if err != nil {
		return err
	}
	p.Arguments.Cotangents = calls.TensorsOf(cotangents)
	p.Results, p.Gradients = results, GradientsAt(p.C, all, p.Wrt)
	return nil
}

// Launches are the kernels that the call starts: none where there is nothing to compute.
func (p *PreparedCall) Launches() map[string]int64 {
	out := map[string]int64{p.C.Op.Name: 1}
	if p.C.Empty() {
		out[p.C.Op.Name] = 0
	}
	if p.C.Op.Gradient != nil {
		out[p.C.Op.Gradient.Name] = 0
		if len(p.Wrt) > 0 {
			out[p.C.Op.Gradient.Name] = 1
		}
	}
	return out
}

// Request is the transformation of prepared calls, which have all the same inputs and attrs.
func Request(way string, options map[string]any, list ...*PreparedCall) *calls.Transformation {
	x := &calls.Transformation{Method: way, Call: calls.New(list[0].C), Options: map[string]any{"wrt": list[0].Wrt}}
	maps.Copy(x.Options, options)
	for _, p := range list {
		x.Calls = append(x.Calls, p.Arguments)
	}
	return x
}

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

// AxisIn is the first axis of an argument that is the dim. It is -1 where there is none.
func AxisIn(c *cases.Case, a *opdef.Arg, dim string) int {
	if all := axesIn(c, a, dim); len(all) > 0 {
		return all[0]
	}
	return -1
}

// axesIn are the axes of an argument that are the dim: there is none or one, or more where a matrix is square. Of leading
// dims it is the first.
func axesIn(c *cases.Case, a *opdef.Arg, dim string) (axes []int) {
	if opdef.IsLead(dim) {
		if at := c.FirstAxis(a); at >= 0 {
			axes = append(axes, at)
		}
		return axes
	}
	at := 0
	for _, d := range a.Type.Dims {
		if d.Is(dim) {
			axes = append(axes, at)
		}
		if d.Leading() {
			at += len(c.Lead(a))
		} else {
			at++
		}
	}
	return axes
}

// variableAxes are the axes, by number, of an argument whose sizes vary.
func variableAxes(c *cases.Case, a *opdef.Arg, dims []string) map[string]string {
	out := map[string]string{}
	for _, dim := range dims {
		for _, at := range axesIn(c, a, dim) {
			out[strconv.Itoa(at)] = axisName(dim)
		}
	}
	return out
}

// ResultArgs are the results that exist, in order.
func ResultArgs(c *cases.Case) []*opdef.Arg {
	var out []*opdef.Arg
	for _, s := range c.Returned() {
		out = append(out, s.Arg)
	}
	return out
}
