package hub

import (
	"fmt"
	"slices"
	"strings"

	"github.com/opcast/opcast/gen/internal/python"
	"github.com/opcast/opcast/gen/internal/view"
	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/workload"
)

// Repository is what a kernel's repository says of itself.
type Repository struct {
	// Name is that of the kernel, Version the number that users ask for.
	Name    string
	Version int
	// Variants are the names of its folders.
	Variants []string
}

// Beside gives what lies beside the variants: the card, and a script that measures the workloads of the definitions if there
// are some that it can call.
func Beside(c *view.Collection, r Repository) ([]view.Draft, error) {
	v := &cardView{variantView: newVariantView(c, ""), Repository: r}
	out := []view.Draft{{Template: "hub/card.md.tmpl", Path: "CARD.md", Data: v}}
	for _, fw := range v.Adaptors {
		if fw.Hub.Benchmark == "" {
			continue
		}
		b := &benchmarkView{Header: view.Header()}
		for _, op := range c.Ops {
			if err := b.add(op.Op); err != nil {
				return nil, err
			}
		}
		if len(b.Classes) > 0 {
			out = append(out, view.Draft{Template: fw.Hub.Benchmark, Path: "benchmarks/benchmark.py", Data: b})
		}
	}
	return out, nil
}

// cardView is the card of a kernel.
type cardView struct {
	*variantView
	Repository Repository
}

// Call is an op as users type it.
func (v *cardView) Call(op hubOp) string { return python.Call(op.Op) }

// HasLayers says whether the kernel has layers.
func (v *cardView) HasLayers() bool { return v.Layers() != nil }

// benchmarkView is the script, with a class for each op.
type benchmarkView struct {
	Header  string
	Classes []benchmarkClass
}

type benchmarkClass struct {
	Name, Op string
	Calls    []benchmarkCall
}

// benchmarkCall is a workload: its arrays, and the attributes as the call has them.
type benchmarkCall struct {
	Name, Text string
	Arrays     []benchmarkArray
	Attrs      []string
}

type benchmarkArray struct{ Name, Shape, DType string }

// add appends the class of an op, if it has workloads whose inputs may be random floats.
func (b *benchmarkView) add(op *opdef.Op) error {
	if op.HasLists() || slices.ContainsFunc(op.Inputs, picky) {
		return nil
	}
	class := benchmarkClass{Name: view.Pascal(op.Name), Op: op.Name}
	for _, call := range workload.Calls(op) {
		made, err := benchmark(call)
		if err != nil {
			return fmt.Errorf("%s: workload %s: %w", op.Name, call.Name, err)
		}
		if made != nil {
			class.Calls = append(class.Calls, *made)
		}
	}
	if len(class.Calls) > 0 {
		b.Classes = append(b.Classes, class)
	}
	return nil
}

// picky says whether an input needs other contents than random numbers, or is overwritten and would be another one with each
// call.
func picky(a opdef.Arg) bool {
	return a.Mutated || a.Min != nil || a.Max != nil || a.Sorted
}

// benchmark is a workload in the script; nil if it has inputs that are no floats.
func benchmark(call workload.Call) (*benchmarkCall, error) {
	made := &benchmarkCall{Name: call.Name, Text: call.String()}
	for _, a := range call.Op.Inputs {
		if !call.Given(a.Name) {
			continue
		}
		d := dtype.Must(call.DType(a.Type))
		if d.ULP == 0 || d.Bits < 16 {
			return nil, nil
		}
		shape, err := call.Shape(a.Type)
		if err != nil {
			return nil, err
		}
		sizes := strings.ReplaceAll(strings.Trim(fmt.Sprint(shape), "[]"), " ", ", ")
		made.Arrays = append(made.Arrays, benchmarkArray{a.Name, sizes, d.Long})
	}
	for _, a := range call.Op.Attrs {
		if v, given := call.Attrs[a.Name]; given {
			made.Attrs = append(made.Attrs, a.Name+"="+python.Literal(v))
		}
	}
	return made, nil
}
