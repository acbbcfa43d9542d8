package conformance

import (
	"fmt"
	"maps"
	"slices"

	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/transform"
)

// spread is a call whose arrays are divided along dims.
type spread struct {
	*prepared
	// axes maps dims to mesh axes; "*" is the first leading dim.
	axes map[string]string
	mesh []int64
}

// spreadPlan has a size that 8 devices can divide for each dim that is divided, and two leading dims.
func spreadPlan(d dtypes, dims []string, without []string) plan {
	p := plan{name: "spread", dtypes: d, batch: []int64{8, 2}, sizes: map[string]int64{}, without: without}
	for _, dim := range dims {
		if dim != "*" {
			p.sizes[dim] = 8
		}
	}
	return p
}

// partition says, per axis of an argument, along which axis of the mesh it is divided.
func (s *spread) partition(t opdef.Type) []string {
	out := []string{}
	for _, d := range t.Dims {
		name := ""
		for dim, axis := range s.axes {
			if d.Is(dim) {
				name = axis
			}
		}
		out = append(out, name)
		if !d.Star {
			continue
		}
		out = out[:len(out)-1]
		for i := range s.c.Batch {
			if i > 0 {
				name = ""
			}
			out = append(out, name)
		}
	}
	return out
}

// local is the shape of the part of an argument that one device has.
func (s *spread) local(t opdef.Type) ([]int64, error) {
	shape, err := s.c.Shape(t)
	if err != nil {
		return nil, err
	}
	for i, name := range s.partition(t) {
		switch name {
		case "i":
			shape[i] /= s.mesh[0]
		case "j":
			shape[i] /= s.mesh[1]
		}
	}
	return shape, nil
}

// types are those of the results, then of the gradients that are wanted.
func (s *spread) types() []opdef.Type {
	out := resultTypes(s.c)
	given := present(s.c)
	for _, place := range s.wrt {
		out = append(out, s.c.Op.Inputs[given[place]].Type)
	}
	return out
}

// options tell the way about mesh and partitions.
func (s *spread) options(explicit bool) map[string]any {
	inputs, outputs := [][]string{}, [][]string{}
	for _, i := range present(s.c) {
		inputs = append(inputs, s.partition(s.c.Op.Inputs[i].Type))
	}
	for _, t := range resultTypes(s.c) {
		outputs = append(outputs, s.partition(t))
	}
	options := map[string]any{"mesh": s.mesh, "explicit": explicit, "inputs": inputs, "cotangents": [][]string{}, "outputs": outputs}
	if len(s.wrt) > 0 {
		options["cotangents"] = s.cotangentPartitions()
	}
	return options
}

// cotangentPartitions are those of the results, which are whole along dims that are gathered.
func (s *spread) cotangentPartitions() [][]string {
	divided := spread{s.prepared, maps.Clone(s.axes), s.mesh}
	maps.DeleteFunc(divided.axes, func(dim, _ string) bool { return roleOf(s.c.Op, dim).Role == transform.Gathered })
	out := [][]string{}
	for _, t := range resultTypes(s.c) {
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

// plainSizes are the dims of the inputs that stand alone and can be chosen, "*" first: a let or an attr has its value.
func plainSizes(op *opdef.Op) []string {
	var out []string
	free := append(symbols(op), "*")
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
	return slices.DeleteFunc(plainSizes(op), func(dim string) bool { return roleOf(op, dim).Role == transform.Gathered })
}

// gathered are the other ones that stand alone.
func gathered(op *opdef.Op) []string {
	return slices.DeleteFunc(plainSizes(op), func(dim string) bool { return roleOf(op, dim).Role != transform.Gathered })
}

// spreadOf prepares a divided call. The error is errAccounted where no sizes fit: nothing is to be said then.
func (t *T) spreadOf(d dtypes, axes map[string]string, mesh []int64, without []string, gradients bool) (*spread, error) {
	var dims []string
	for dim := range axes {
		dims = append(dims, dim)
	}
	c, err := t.newCase(spreadPlan(d, dims, without))
	if err != nil {
		return nil, errAccounted // the definition's conditions fix these sizes
	}
	p, err := t.prepare(c, gradients, "spread")
	if err != nil {
		return nil, err
	}
	p.c.Name += fmt.Sprintf(", %v of mesh %s", axes, list(mesh))
	return &spread{p, axes, mesh}, nil
}

// checkSharding divides along each dim that allows it.
func checkSharding(explicit bool) func(t *T) error {
	return func(t *T) error {
		d, err := t.firstDTypes()
		if err != nil {
			return err
		}
		for _, p := range presencePlans(t.Op, d) {
			for _, dim := range dividable(t.Op) {
				for _, n := range []int64{2, 4, 8} {
					if p.without != nil && n != 2 {
						continue
					}
					s, err := t.spreadOf(d, map[string]string{dim: "i"}, []int64{n}, p.without, true)
					if err != nil {
						return err
					}
					if err := proceed(t.sharded(s, explicit)); err != nil {
						return err
					}
				}
			}
		}
		return nil
	}
}

// checkMesh divides two dims at once, or one along the second axis of the mesh.
func checkMesh(t *T) error {
	d, err := t.firstDTypes()
	if err != nil {
		return err
	}
	dims := dividable(t.Op)
	if len(dims) == 0 {
		return skip("no dim can be divided")
	}
	axes := map[string]string{dims[0]: "j"}
	if len(dims) > 1 {
		axes[dims[1]] = "i"
	}
	for _, explicit := range []bool{false, true} {
		s, err := t.spreadOf(d, axes, []int64{2, 4}, nil, true)
		if err != nil {
			return err
		}
		if err := proceed(t.sharded(s, explicit)); err != nil {
			return err
		}
	}
	return nil
}
