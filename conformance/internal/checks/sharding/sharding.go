package sharding

import (
	"fmt"
	"maps"
	"slices"

	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/transformed"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/rule"
	"github.com/opcast/opcast/internal/language/transform"
)

var shardingExplicitCheck = onDevices("sharding-explicit", "sharding",
	"what sharding says also holds with explicit axes", checkSharding(true))

var shardingCheck = onDevices("sharding", "sharding",
	"on 2, 4 and 8 devices: no collective along a parallel dim, sums by one all-reduce, local parts, the bits of one device", checkSharding(false))

// placements are those that results and gradients must have; nil where the dim is gathered and nothing is promised.
func (s *sharding) placements(dim string) []string {
	var out []string
	sums := s.sums()
	forward := roleOf(s.C.Op, dim).Role != transform.Gathered
	backward := forward && s.C.Op.Gradient != nil && roleOf(s.C.Op.Gradient, dim).Role != transform.Gathered
	for i, arg := range s.arrays() {
		known := forward
		if i >= len(s.Results) {
			known = backward
		}
		switch {
		case !known:
			out = append(out, "")
		case sums[i]:
			out = append(out, "P(sum)")
		default:
			out = append(out, placement(s.C, arg, dim))
		}
	}
	return out
}

// sums says which of the results and gradients are a sum over the devices.
func (s *sharding) sums() []bool {
	out := []bool{}
	partial := func(op *opdef.Op, name string) bool {
		for dim := range s.axes {
			if slices.Contains(roleOf(op, dim).Partial, name) {
				return true
			}
		}
		return false
	}
	for _, result := range s.C.Returned() {
		out = append(out, partial(s.C.Op, result.Name))
	}
	given := cases.GivenInputs(s.C)
	for _, place := range s.Wrt {
		in := &s.C.Op.Inputs[given[place]]
		out = append(out, s.broadcast(in) || partial(s.C.Op.Gradient, s.C.Op.GradPrefix()+in.Name))
	}
	return out
}

// broadcast says whether an input is broadcast along the leading dim that is divided: its gradient is a sum over the devices.
func (s *sharding) broadcast(in *opdef.Arg) bool {
	lead := in.Type.Lead()
	_, divided := s.axes[lead]
	return divided && lead == opdef.Broadcast && s.C.FirstAxis(in) < 0
}

// sharding is a call whose arrays are divided along dims.
type sharding struct {
	*transformed.PreparedCall
	// axes maps dims to mesh axes; "*" and "..." are the first leading dim.
	axes map[string]string
	mesh []int64
}

// shardingPlan has a size that 8 devices can divide for each dim that is divided, and two leading dims.
func shardingPlan(d cases.DTypes, dims []string, without []string) cases.Plan {
	p := cases.Plan{Name: "spread", DTypes: d, Batch: []int64{8, 2}, Sizes: map[string]int64{}, Without: without}
	for _, dim := range dims {
		if !opdef.IsLead(dim) {
			p.Sizes[dim] = 8
		}
	}
	return p
}

// partition says, per axis of an argument, along which axis of the mesh it is divided.
func (s *sharding) partition(a *opdef.Arg) []string {
	out := []string{}
	for _, d := range a.Type.Dims {
		name := ""
		for dim, axis := range s.axes {
			if d.Is(dim) && !slices.Contains(out, axis) { // one that stands twice is divided once
				name = axis
			}
		}
		out = append(out, name)
		if !d.Leading() {
			continue
		}
		out = out[:len(out)-1]
		for i := range s.C.Lead(a) {
			if i > 0 || s.C.FirstAxis(a) < 0 {
				name = ""
			}
			out = append(out, name)
		}
	}
	return out
}

// local is the shape of the part of an argument that one device has.
func (s *sharding) local(a *opdef.Arg) ([]int64, error) {
	shape, err := s.C.ShapeOf(a)
	if err != nil {
		return nil, err
	}
	for i, name := range s.partition(a) {
		switch name {
		case "i":
			shape[i] /= s.mesh[0]
		case "j":
			shape[i] /= s.mesh[1]
		}
	}
	return shape, nil
}

// arrays are the results, then for the gradients that are wanted the inputs, which have their shapes.
func (s *sharding) arrays() []*opdef.Arg {
	out := transformed.ResultArgs(s.C)
	given := cases.GivenInputs(s.C)
	for _, place := range s.Wrt {
		out = append(out, &s.C.Op.Inputs[given[place]])
	}
	return out
}

// options tell the way about mesh and partitions.
func (s *sharding) options(explicit bool) map[string]any {
	inputs, outputs := [][]string{}, [][]string{}
	for _, i := range cases.GivenInputs(s.C) {
		inputs = append(inputs, s.partition(&s.C.Op.Inputs[i]))
	}
	for _, t := range transformed.ResultArgs(s.C) {
		outputs = append(outputs, s.partition(t))
	}
	options := map[string]any{"mesh": s.mesh, "explicit": explicit, "inputs": inputs, "cotangents": [][]string{}, "outputs": outputs}
	if len(s.Wrt) > 0 {
		options["cotangents"] = s.cotangentPartitions()
	}
	return options
}

// cotangentPartitions are those of the results, which are whole along dims that are gathered.
func (s *sharding) cotangentPartitions() [][]string {
	divided := sharding{s.PreparedCall, maps.Clone(s.axes), s.mesh}
	maps.DeleteFunc(divided.axes, func(dim, _ string) bool { return roleOf(s.C.Op, dim).Role == transform.Gathered })
	out := [][]string{}
	for _, t := range transformed.ResultArgs(s.C) {
		out = append(out, divided.partition(t))
	}
	return out
}

// roleOf is what the definition says about a dim.
func roleOf(op *opdef.Op, dim string) transform.Factor {
	for _, f := range transform.Factors(op) {
		if f.Dim == dim {
			return f
		}
	}
	return transform.Factor{Dim: dim}
}

// StandaloneDims are the dims of the inputs that stand alone and can be chosen, leading ones first: a let or an attr has its value.
func StandaloneDims(op *opdef.Op) []string {
	var out []string
	free := append(cases.Symbols(op), opdef.Same, opdef.Broadcast)
	for _, in := range op.Inputs {
		for _, d := range in.Type.Dims {
			if slices.Contains(free, d.Text()) && !slices.Contains(out, d.Text()) {
				out = append(out, d.Text())
			}
		}
	}
	return out
}

// dividable are the dims along which no device needs another one's part.
func dividable(op *opdef.Op) []string {
	return slices.DeleteFunc(StandaloneDims(op), func(dim string) bool { return roleOf(op, dim).Role == transform.Gathered })
}

// newSharding prepares a divided call. The error is ErrAccounted where no sizes fit: nothing is to be said then.
func newSharding(t *check.T, d cases.DTypes, axes map[string]string, mesh []int64, without []string, gradients bool) (*sharding, error) {
	var dims []string
	for dim := range axes {
		dims = append(dims, dim)
	}
	c, err := t.NewCase(shardingPlan(d, dims, without))
	if err != nil {
		return nil, check.ErrAccounted // the definition's conditions fix these sizes
	}
	p, err := transformed.Prepare(t, c, gradients, "spread")
	if err != nil {
		return nil, err
	}
	p.C.Name += fmt.Sprintf(", %v of mesh %s", axes, rule.List(mesh))
	return &sharding{p, axes, mesh}, nil
}

// checkSharding divides along each dim that allows it.
func checkSharding(explicit bool) func(t *check.T) error {
	return func(t *check.T) error {
		d, err := t.FirstDTypes()
		if err != nil {
			return err
		}
		for _, p := range cases.OptionalPlans(t.Op, d) {
			for _, dim := range dividable(t.Op) {
				for _, n := range []int64{2, 4, 8} {
					if p.Without != nil && n != 2 {
						continue
					}
					s, err := newSharding(t, d, map[string]string{dim: "i"}, []int64{n}, p.Without, true)
					if err != nil {
						return err
					}
					if err := check.Proceed(checkShardedProgram(t, s, explicit)); err != nil {
						return err
					}
				}
			}
		}
		return nil
	}
}
