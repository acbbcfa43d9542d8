package rule

import (
	"cmp"
	"math"
	"slices"

	"github.com/opcast/opcast/internal/language/dtype"
)

// memory says where the elements of an array lie, in bytes. The checks in C++ and in Python do the same with it.
type memory struct {
	address, itemSize int64
	shape, strides    []int64
}

func (v Value) memory() memory {
	m := memory{itemSize: 1, shape: v.Shape, strides: make([]int64, len(v.Shape))}
	if d, ok := dtype.LookupLong(v.DType); ok {
		m.itemSize = int64(max(d.Bits/8, 1))
	}
	step := m.itemSize
	for i := len(v.Shape) - 1; i >= 0; i-- {
		m.strides[i] = step
		step *= max(v.Shape[i], 1)
	}
	for i, s := range v.Strides {
		m.strides[i] = s * m.itemSize
	}
	m.address = v.Offset * m.itemSize
	return m
}

// overwritable checks memory that the op writes: it is allowed to, and the strides are those that the kernels take.
func overwritable(arg string, v Value, stride string) error {
	if v.ReadOnly {
		return expected("ValueError", arg, "writable memory, got a read-only array")
	}
	return layout(arg, v, stride)
}

// layout checks that the strides are those that the kernels take.
func layout(arg string, v Value, stride string) error {
	m := v.memory()
	switch {
	case stride == "" && !m.dense():
		return expected("ValueError", arg, "contiguous memory, got strides %s", List(v.Strides))
	case stride == "last" && !m.lastDense():
		return expected("ValueError", arg, "a contiguous last dimension, got strides %s", List(v.Strides))
	}
	return nil
}

func (m memory) empty() bool { return slices.Contains(m.shape, 0) }

// dense says whether the elements lie in order without gaps; the strides of dims of one element are not looked at.
func (m memory) dense() bool {
	step := m.itemSize
	for i := len(m.shape) - 1; i >= 0 && !m.empty(); i-- {
		if m.shape[i] != 1 && m.strides[i] != step {
			return false
		}
		step *= m.shape[i]
	}
	return true
}

func (m memory) lastDense() bool {
	last := len(m.shape) - 1
	return last < 0 || m.empty() || m.shape[last] == 1 || m.strides[last] == m.itemSize
}

// step is a dim of more than one element.
type step struct{ stride, size int64 }

func (m memory) steps() []step {
	var out []step
	for i, n := range m.shape {
		if n != 1 {
			out = append(out, step{m.strides[i], n})
		}
	}
	return out
}

// distinct says whether no two elements lie in one place: each stride leaves behind all that the smaller ones reach.
// It is never wrong about that; arrays that interleave in other ways, or reach further than addresses do, count as
// overlapping.
func (m memory) distinct() bool {
	if m.empty() || m.dense() {
		return true
	}
	reach := int64(0) // in elements, as in C++: the numbers overflow for the same arrays
	for _, s := range ascending(m.steps()) {
		stride := s.stride / m.itemSize
		if s.stride%m.itemSize != 0 || stride <= reach || s.size-1 > (math.MaxInt64-reach)/stride {
			return false
		}
		reach += stride * (s.size - 1)
	}
	return true
}

// ascending sorts steps by the distance of neighbours.
func ascending(steps []step) []step {
	out := slices.Clone(steps)
	for i := range out {
		out[i].stride = max(out[i].stride, -out[i].stride)
	}
	slices.SortFunc(out, func(a, b step) int { return cmp.Compare(a.stride, b.stride) })
	return out
}

// span is the range of the bytes that the elements lie in.
func (m memory) span() (begin, end int64) {
	begin, end = m.address, m.address+m.itemSize
	for i, n := range m.shape {
		begin += min(m.strides[i]*(n-1), 0)
		end += max(m.strides[i]*(n-1), 0)
	}
	return begin, end
}

// maxSteps is the number of dims up to which the search for common elements, whose time doubles with each, is worth it.
const maxSteps = 8

// overlap says whether two arrays have memory in common. It is exact for arrays of equal shape and strides, such as two
// column blocks of one buffer; for others it compares the ranges of their bytes.
func overlap(a, b memory) bool {
	if a.empty() || b.empty() {
		return false
	}
	beginA, endA := a.span()
	beginB, endB := b.span()
	if beginA >= endB || beginB >= endA {
		return false
	}
	steps, distance := a.steps(), max(beginA-beginB, beginB-beginA)
	if a.itemSize != b.itemSize || !slices.Equal(steps, b.steps()) || len(steps) > maxSteps || !a.distinct() || distance%a.itemSize != 0 {
		return true
	}
	steps = ascending(steps)
	slices.Reverse(steps)
	return meet(steps, distance)
}

// meet says whether a distance is a sum of multiples of the strides, each smaller in amount than its size. A stride is
// larger than all that the smaller ones reach, so that only two multiples of it come into question.
func meet(steps []step, distance int64) bool {
	if len(steps) == 0 {
		return distance == 0
	}
	s := steps[0]
	times := distance / s.stride
	if distance < 0 && distance%s.stride != 0 {
		times--
	}
	for _, k := range []int64{times, times + 1} {
		if max(k, -k) < s.size && meet(steps[1:], distance-k*s.stride) {
			return true
		}
	}
	return false
}

// array is an argument of the call by name.
func (e *evaluation) array(name string) Value {
	for _, group := range []map[string]Value{e.call.Inputs, e.call.Out, e.call.Scratch} {
		if v, found := group[name]; found {
			return v
		}
	}
	return Value{}
}

// apart checks that an array which the op writes shares no memory with others.
func (e *evaluation) apart(arg string, v Value, others []string) error {
	for _, name := range others {
		other := e.array(name)
		if v.Buffer != "" && v.Buffer == other.Buffer && overlap(v.memory(), other.memory()) {
			return expected("ValueError", arg, "memory apart from %s, got overlapping memory", name)
		}
	}
	return nil
}
