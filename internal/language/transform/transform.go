// Package transform says what follows from a definition for the transformations of a framework: gradients, vmap,
// sharding, and which arguments are copied. It is pure; pages, metadata, the command line and the suite share it.
package transform

import (
	"slices"

	"github.com/opcast/opcast/internal/language/opdef"
)

// Merge is a way to map a call over a new axis without a loop: every mapped input has Dim for itself, and so has all
// that the op writes. Of leading dims the axis becomes one more, else it is folded into Dim and split off again.
type Merge struct {
	Dim    string   `json:"dim"`
	Inputs []string `json:"inputs"`
}

// Merges lists the ways of an op, that along the leading dims first.
func Merges(op *opdef.Op) []Merge {
	var out []Merge
	for _, dim := range op.ParallelDims() {
		lacks := func(a opdef.Arg) bool { return !a.Has(dim) }
		if slices.ContainsFunc(op.Written(), lacks) {
			continue
		}
		m := Merge{Dim: dim}
		for _, in := range op.Inputs {
			if in.Has(dim) {
				m.Inputs = append(m.Inputs, in.Name)
			}
		}
		out = append(out, m)
	}
	return out
}

// Merged says whether a call that maps the given inputs needs no loop.
func Merged(op *opdef.Op, mapped []string) bool {
	return slices.ContainsFunc(Merges(op), func(m Merge) bool {
		return !slices.ContainsFunc(mapped, func(name string) bool { return !slices.Contains(m.Inputs, name) })
	})
}

// Loops lists the inputs that are in no Merge: a call that maps one of them is a loop over slices.
func Loops(op *opdef.Op) []string {
	var out []string
	for _, in := range op.Inputs {
		if !Merged(op, []string{in.Name}) {
			out = append(out, in.Name)
		}
	}
	return out
}

// Role is what happens to a dim when its arrays are sharded.
type Role int

// The roles of a dim.
const (
	// Gathered: every device needs the whole dim.
	Gathered Role = iota
	// Sliced: each device computes its part of every output.
	Sliced
	// Summed: each device computes its part of the outputs that have the dim, and a summand of those in Factor.Partial.
	Summed
)

// String is the role's name.
func (r Role) String() string { return [...]string{"gathered", "sliced", "summed"}[r] }

// Factor is a dim of an op as sharding sees it. Dims that are expressions are factors of their own and gathered.
type Factor struct {
	Dim  string
	Role Role
	// Partial are the outputs that are a sum over the devices.
	Partial []string
}

// Factors lists the dims of an op in the order in which its arguments mention them.
func Factors(op *opdef.Op) []Factor {
	var out []Factor
	for _, arg := range slices.Concat(op.Inputs, op.Outputs) {
		for _, d := range arg.Type.Dims {
			known := slices.ContainsFunc(out, func(f Factor) bool { return f.Dim == d.Text() })
			if !known && (d.Leading() || len(symbols(d)) > 0) {
				out = append(out, factor(op, d))
			}
		}
	}
	return out
}

func symbols(d opdef.Dim) []string {
	if d.Expr == nil {
		return nil
	}
	return d.Expr.Symbols()
}

func factor(op *opdef.Op, d opdef.Dim) Factor {
	f := Factor{Dim: d.Text()}
	switch {
	case !d.Leading() && !d.Plain():
	case slices.Contains(op.Sums, f.Dim):
		f.Role = Summed
		for _, a := range op.Outputs {
			if !a.Has(f.Dim) {
				f.Partial = append(f.Partial, a.Name)
			}
		}
	case slices.Contains(op.ParallelDims(), f.Dim):
		f.Role = Sliced
	}
	return f
}

// Copies lists the inputs that an adaptor copies when their memory is not laid out as the kernels take it.
func Copies(op *opdef.Op) []opdef.Arg {
	return slices.DeleteFunc(slices.Clone(op.Inputs), func(a opdef.Arg) bool { return a.Mutated || a.Stride == "any" && op.Alignment(&a) == 1 })
}
