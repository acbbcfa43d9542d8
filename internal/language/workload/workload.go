// Package workload computes what the named calls of a definition are made of: shapes of arrays, bytes and operations.
package workload

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/opdef"
)

// Call is a workload of an op.
type Call struct {
	Op *opdef.Op
	*opdef.Workload
}

// Calls are the workloads of an op, by name.
func Calls(op *opdef.Op) []Call {
	var out []Call
	for i := range op.Workloads {
		w := &op.Workloads[i]
		form := op
		if op.HasLists() { // its arrays one by one
			form = op.Instance(func(list string) int { return w.Lengths[list] })
		}
		out = append(out, Call{form, w})
	}
	return out
}

// ByName returns a workload; false if the op has none of that name.
func ByName(op *opdef.Op, name string) (Call, bool) {
	calls := Calls(op)
	i := slices.IndexFunc(calls, func(c Call) bool { return c.Name == name })
	if i < 0 {
		return Call{}, false
	}
	return calls[i], true
}

// String says what the call is made of: "* = [2, 2048], N = 4096, T = bf16, no bias".
func (c Call) String() string {
	var parts []string
	if c.Op.HasBatch() {
		parts = append(parts, c.Op.Lead()+" = "+strings.ReplaceAll(fmt.Sprint(c.Batch), " ", ", "))
	}
	for _, name := range slices.Sorted(maps.Keys(c.Sizes)) {
		parts = append(parts, fmt.Sprintf("%s = %d", name, c.Sizes[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(c.Elements)) {
		parts = append(parts, name+" = "+strings.ReplaceAll(fmt.Sprint(c.Elements[name]), " ", ", "))
	}
	for _, v := range c.Op.DTypes {
		parts = append(parts, v.Name+" = "+c.DType(opdef.Type{Var: v.Name}))
	}
	for _, a := range c.Op.Attrs {
		if v := c.Attrs[a.Name]; v != nil && !reflect.DeepEqual(v, a.Default) {
			parts = append(parts, fmt.Sprintf("%s = %v", a.Name, v))
		}
	}
	for _, name := range c.Without {
		parts = append(parts, "no "+name)
	}
	return strings.Join(parts, ", ")
}

// Int is a size, a let, the product of the leading dims or the value of an attribute.
func (c Call) Int(name string) (int64, bool) {
	for _, l := range c.Op.Lets {
		if l.Name == name {
			v, err := l.Expr.Eval(c)
			return v, err == nil
		}
	}
	return c.Workload.Int(name)
}

// Shape is the shape of an argument.
func (c Call) Shape(t opdef.Type) ([]int64, error) {
	shape := []int64{}
	for _, d := range t.Dims {
		if d.Expr == nil {
			shape = append(shape, c.Batch...)
			continue
		}
		n, err := d.Expr.Eval(c)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.Expr.Text, err)
		}
		shape = append(shape, n)
	}
	return shape, nil
}

// DType is the short name of an argument's dtype: that of the workload, else the default of the attribute that chooses it, else
// the first that its variable may stand for.
func (c Call) DType(t opdef.Type) string {
	if short, ok := c.DTypes[t.Var]; ok {
		return short
	}
	for _, a := range c.Op.Attrs {
		if name, given := a.Default.(string); given && t.Var != "" && a.Binds == t.Var {
			return c.DType(c.Op.TypeNamed(name))
		}
	}
	for _, v := range c.Op.DTypes {
		if v.Name == t.Var {
			return v.OneOf[0]
		}
	}
	return t.DType
}

// Given says whether the call has an input.
func (c Call) Given(name string) bool { return !slices.Contains(c.Without, name) }

// Bytes counts the bytes that the call reads and writes: those of every input and output once, and of overwritten inputs
// twice. What a call leaves out, and what is only saved for a gradient, does not count.
func (c Call) Bytes() (int64, error) {
	total := int64(0)
	for _, arg := range slices.Concat(c.Op.Inputs, c.Op.Returned(), c.Op.Mutated()) {
		if !c.Op.Exists(&arg, c.Given, c.Attrs) {
			continue
		}
		shape, err := c.Shape(arg.Type)
		if err != nil {
			return 0, err
		}
		bytes := int64(max(dtype.Must(c.DType(arg.Type)).Bits/8, 1))
		for _, n := range shape {
			bytes *= n
		}
		total += bytes
	}
	return total, nil
}

// ErrNoFlops means that a definition does not say how many operations a call needs.
var ErrNoFlops = errors.New("the definition has no flops")

// Flops counts the operations.
func (c Call) Flops() (int64, error) {
	if c.Op.Flops == nil {
		return 0, ErrNoFlops
	}
	n, err := c.Op.Flops.Eval(c)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", c.Op.Flops.Text, err)
	}
	return n, nil
}

// Small is the call with leading dims and sizes of at most so many elements. It may break what the definition requires.
func (c Call) Small(most int64) Call {
	w := *c.Workload
	w.Batch = make([]int64, len(c.Batch))
	for i, n := range c.Batch {
		w.Batch[i] = min(n, most)
	}
	w.Sizes = map[string]int64{}
	for name, n := range c.Sizes {
		w.Sizes[name] = min(n, most)
	}
	w.Elements = map[string][]int64{}
	for name, list := range c.Elements {
		for _, n := range list {
			w.Elements[name] = append(w.Elements[name], min(n, most))
		}
	}
	return Call{Op: c.Op, Workload: &w}
}

// ContentsDecide says whether what an op reads may depend on contents: some input holds integers that count or choose something
// that has a size.
func ContentsDecide(op *opdef.Op) bool {
	const integers = 1 // DLPack's codes of integers with and without sign are not above; bool has the latter, too
	return slices.ContainsFunc(op.Inputs, func(in opdef.Arg) bool {
		d := dtype.Must(shortOf(op, in.Type))
		return in.Max != nil && len(in.Max.Symbols()) > 0 && d.Code <= integers && d.Short != "bool"
	})
}

// shortOf is a dtype that an argument may have.
func shortOf(op *opdef.Op, t opdef.Type) string {
	for _, v := range op.DTypes {
		if v.Name == t.Var {
			return v.OneOf[0]
		}
	}
	return t.DType
}
