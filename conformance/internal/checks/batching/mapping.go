package batching

import (
	"fmt"
	"slices"
	"strings"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/transformed"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/transform"
)

// level is one map: its size, and the axis of each given input along which it goes; nil where it does not.
type level struct {
	size int64
	axes []any
}

// mapping is a call that is mapped, the outermost level first.
type mapping struct {
	base   *cases.Case
	plan   cases.Plan
	levels []level
	// draw makes the case of a plan.
	draw func(cases.Plan) (*cases.Case, error)
	// drawn holds a case for each choice of indices.
	drawn map[string]*cases.Case
}

func newMapping(t *check.T, p cases.Plan, levels ...level) (*mapping, error) {
	c, err := t.SampledCase(p)
	return &mapping{c, p, levels, t.SampledCase, map[string]*cases.Case{}}, err
}

// describe says what is mapped.
func (m *mapping) describe() string {
	var parts []string
	for _, l := range m.levels {
		parts = append(parts, fmt.Sprintf("%d × [%s]", l.size, strings.Join(m.mapped(l), ", ")))
	}
	return m.base.Name + ", mapped " + strings.Join(parts, " of ")
}

// mapped names the inputs that a level maps.
func (m *mapping) mapped(l level) []string {
	var out []string
	for place, i := range cases.GivenInputs(m.base) {
		if l.axes[place] != nil {
			out = append(out, m.base.Op.Inputs[i].Name)
		}
	}
	return out
}

// content is what an input holds at an index of every level; levels that do not map it have no influence.
func (m *mapping) content(place int, path []int64) (*ndarray.Array, error) {
	key := ""
	for l, at := range path {
		if !m.varies(m.levels[l], place) {
			at = -1
		}
		key += fmt.Sprint("/", at)
	}
	c, ok := m.drawn[key]
	if !ok {
		var err error
		p := m.plan
		p.Name += key
		if c, err = m.draw(p); err != nil {
			return nil, err
		}
		m.drawn[key] = c
	}
	return c.Inputs[cases.GivenInputs(m.base)[place]], nil
}

// varies reports whether an input differs along a level: if the level maps it and, as the author's samples are made for each other,
// all others that come from them, too.
func (m *mapping) varies(l level, place int) bool {
	given := cases.GivenInputs(m.base)
	sampled := func(place int) bool { return m.base.Sampled[m.base.Op.Inputs[given[place]].Name] }
	for other := range given {
		if sampled(place) && sampled(other) && l.axes[other] == nil {
			return false
		}
	}
	return l.axes[place] != nil
}

// argument is the stacked input.
func (m *mapping) argument(place int, path []int64) (*ndarray.Array, error) {
	depth := len(path)
	if depth == len(m.levels) {
		return m.content(place, path)
	}
	l := m.levels[depth]
	axis, mapped := l.axes[place].(int)
	if !mapped {
		return m.argument(place, append(slices.Clone(path), 0))
	}
	var parts []*ndarray.Array
	for at := range l.size {
		part, err := m.argument(place, append(slices.Clone(path), at))
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	// Of an empty map only the shape matters.
	like, err := m.argument(place, append(slices.Clone(path), 0))
	if err != nil {
		return nil, err
	}
	return transformed.Stack(parts, like, axis), nil
}

// arguments are all stacked inputs.
func (m *mapping) arguments() ([]*calls.Tensor, error) {
	var out []*ndarray.Array
	for place := range cases.GivenInputs(m.base) {
		a, err := m.argument(place, nil)
		if err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	return calls.TensorsOf(out), nil
}

// slices are the calls that the map stands for, in the order of their indices.
func (m *mapping) slices() ([]*cases.Case, error) {
	paths := [][]int64{nil}
	for _, l := range m.levels {
		var next [][]int64
		for _, p := range paths {
			for at := range l.size {
				next = append(next, append(slices.Clone(p), at))
			}
		}
		paths = next
	}
	var out []*cases.Case
	for _, path := range paths {
		c := *m.base
		c.Inputs = slices.Clone(c.Inputs)
		for place, i := range cases.GivenInputs(m.base) {
			a, err := m.content(place, path)
			if err != nil {
				return nil, err
			}
			c.Inputs[i] = a
		}
		out = append(out, &c)
	}
	return out, nil
}

// stacked puts the results of all slices together; like has their shapes.
func (m *mapping) stacked(results [][]*ndarray.Array, like []*ndarray.Array) []*ndarray.Array {
	var out []*ndarray.Array
	for k, l := range like {
		whole := transformed.Stack(transformed.Column(results, k), l, 0)
		shape := []int64{}
		for _, level := range m.levels {
			shape = append(shape, level.size)
		}
		whole.Shape = append(shape, l.Shape...)
		whole.Strides = ndarray.DenseStrides(whole.Shape)
		out = append(out, whole)
	}
	return out
}

// launches is the number of kernels that the map starts: one per level that merges, one per slice of the others, and none
// where there is nothing to compute.
func (m *mapping) launches() int64 {
	n := int64(1)
	if m.base.Empty() {
		n = 0
	}
	for _, l := range m.levels {
		switch {
		case l.size == 0:
			return 0
		case !transform.Merged(m.base.Op, m.mapped(l)):
			n *= l.size
		}
	}
	return n
}

// repeats says whether some level that does not merge maps empty inputs only: all its calls are the same, and a compiler makes
// such a call once.
func (m *mapping) repeats() bool {
	full := func(name string) bool { return m.base.Inputs[m.base.Op.InputIndex(name)].Len() > 0 }
	return slices.ContainsFunc(m.levels, func(l level) bool {
		mapped := m.mapped(l)
		return !transform.Merged(m.base.Op, mapped) && !slices.ContainsFunc(mapped, full)
	})
}

// overwritten is the first input that a level must map, since the op overwrites it, and does not; "" if there is none.
// The innermost level meets the op first.
func (m *mapping) overwritten() string {
	for _, l := range slices.Backward(m.levels) {
		for i, in := range m.base.Op.Inputs {
			if in.Mutated && m.base.Inputs[i] != nil && !slices.Contains(m.mapped(l), in.Name) {
				return in.Name
			}
		}
	}
	return ""
}
