package conformance

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/opcast/opcast/internal/ndarray"
	"github.com/opcast/opcast/internal/opdef"
)

// prepared is a call of an op and its gradient: arguments, and what must come out.
type prepared struct {
	c *Case
	// wrt are the places, among the inputs that are given, of those whose gradients are wanted.
	wrt       []int
	arguments arrays
	// results, and the gradients at wrt.
	results, gradients []*ndarray.Array
}

// want are all arrays that must come out, results first.
func (p *prepared) want() []*ndarray.Array { return slices.Concat(p.results, p.gradients) }

// prepare computes what a case must give. With gradients it wants those of all inputs that have one; name distinguishes
// the contents of the cotangents.
func (t *T) prepare(c *Case, gradients bool, name string) (*prepared, error) {
	p := &prepared{c: c, wrt: []int{}, arguments: arrays{inputs: given(c)}}
	if gradients {
		p.wrt = differentiable(c)
	}
	if len(p.wrt) == 0 {
		made, err := t.bareCall(c)
		if err != nil {
			return nil, err
		}
		p.results = made.results(c.Op)
		return p, nil
	}
	cotangents, err := t.cotangents(c, name)
	if err != nil {
		return nil, err
	}
	return p, t.differentiated(p, cotangents)
}

// differentiated fills in what the cotangents give.
func (t *T) differentiated(p *prepared, cotangents []*ndarray.Array) error {
	results, all, err := t.bareGradient(p.c, cotangents)
	if err != nil {
		return err
	}
	p.arguments.cotangents = tensorsOf(cotangents)
	p.results, p.gradients = results, chosen(p.c, all, p.wrt)
	return nil
}

// launches are the kernels that the call starts: none where there is nothing to compute.
func (p *prepared) launches() map[string]int64 {
	out := map[string]int64{p.c.Op.Name: 1}
	if p.c.Op.Gradient != nil {
		out[p.c.Op.Gradient.Name] = 0
		if len(p.wrt) > 0 {
			out[p.c.Op.Gradient.Name] = 1
		}
	}
	return out
}

// request is the transformation of prepared calls, which have all the same inputs and attrs.
func request(way string, options map[string]any, list ...*prepared) *transformation {
	x := &transformation{way: way, call: newCall(list[0].c), options: map[string]any{"wrt": list[0].wrt}}
	maps.Copy(x.options, options)
	for _, p := range list {
		x.calls = append(x.calls, p.arguments)
	}
	return x
}

// presencePlans are a plan with all optional inputs and one without each.
func presencePlans(op *opdef.Op, d dtypes) []plan {
	plans := []plan{base(d)}
	for _, in := range op.Inputs {
		if in.Optional {
			p := base(d)
			p.without = []string{in.Name}
			plans = append(plans, p)
		}
	}
	return plans
}

// rankZero is a plan without leading dims, for an op that has such.
func rankZero(op *opdef.Op, d dtypes) []plan {
	if !op.HasBatch() {
		return nil
	}
	p := base(d)
	p.batch = []int64{}
	return []plan{p}
}

// firstDTypes is the choice of dtypes for checks in which they do not matter.
func (t *T) firstDTypes() (dtypes, error) {
	all := combinations(t.Op, t.env.device)
	if len(all) == 0 {
		return nil, skip("no kernel for device %s", t.env.device)
	}
	t.Row(t.general(all[0]), all[0].String())
	return all[0], nil
}

// eachPresence runs a body for the cases of presencePlans of the first choice of dtypes.
func (t *T) eachPresence(body func(c *Case) error) error {
	d, err := t.firstDTypes()
	if err != nil {
		return err
	}
	return forEach(t.cases(presencePlans(t.Op, d)), body)
}

// variedDims are the dims of which compiled programs must not depend: the leading ones and those declared as parallel, or
// the first size that stands alone.
func variedDims(op *opdef.Op) []string {
	dims := slices.Clone(op.Parallel)
	if op.HasBatch() && !slices.Contains(dims, "*") {
		dims = append([]string{"*"}, dims...)
	}
	if len(dims) > 0 {
		return dims
	}
	for _, in := range op.Inputs {
		for _, d := range in.Type.Dims {
			if d.Plain() {
				return []string{d.Expr.Name}
			}
		}
	}
	return nil
}

// variedSizes differ from each other and from the sizes of other dims: equal ones might be taken for one size.
var variedSizes = []int64{13, 17, 19, 23, 29, 31, 37, 41, 43}

// variedCases are calls that differ in the sizes of some dims.
func (t *T) variedCases(d dtypes, dims []string, without []string) []*Case {
	var out []*Case
	for k := range 3 {
		p := plan{name: fmt.Sprint("varied ", k), dtypes: d, batch: []int64{2, 3}, sizes: map[string]int64{}, without: without}
		for i, dim := range dims {
			n := variedSizes[(k*len(dims)+i)%len(variedSizes)]
			if dim == "*" {
				p.batch = []int64{n, 3}
			} else {
				p.sizes[dim] = n
			}
		}
		if c, err := t.sampledCase(p); err == nil {
			out = append(out, c)
		}
	}
	return out
}

// axisName is the name of a variable size in a framework.
func axisName(dim string) string {
	if dim == "*" {
		return "rows"
	}
	return dim
}

// axisIn is the axis of an argument that is the dim; of leading dims the first. It is -1 where there is none.
func axisIn(c *Case, t opdef.Type, dim string) int {
	at := 0
	for _, d := range t.Dims {
		if d.Is(dim) {
			if d.Star && len(c.Batch) == 0 {
				return -1
			}
			return at
		}
		if d.Star {
			at += len(c.Batch)
		} else {
			at++
		}
	}
	return -1
}

// variableAxes are the axes, by number, of an argument whose sizes vary.
func variableAxes(c *Case, t opdef.Type, dims []string) map[string]string {
	out := map[string]string{}
	for _, dim := range dims {
		if at := axisIn(c, t, dim); at >= 0 {
			out[strconv.Itoa(at)] = axisName(dim)
		}
	}
	return out
}

// resultTypes are the types of the results that exist, in order.
func resultTypes(c *Case) []opdef.Type {
	var out []opdef.Type
	for _, s := range c.returned() {
		out = append(out, s.Type)
	}
	return out
}
