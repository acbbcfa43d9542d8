package workload

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/opcast/opcast/internal/language/opdef"
)

// Sweep is a size and the values that it takes, one after the other, in workloads.
type Sweep struct {
	Size   string
	Values []int64
}

// maxSwept is how many values a sweep has at most.
const maxSwept = 64

// ParseSweep reads "N=64:4096", which doubles from 64 to 4096, or "N=1,100,1000".
func ParseSweep(text string) (Sweep, error) {
	size, list, _ := strings.Cut(text, "=")
	first, last, doubled := strings.Cut(list, ":")
	words := []string{first, last}
	if !doubled {
		words = strings.Split(list, ",")
	}
	s := Sweep{Size: strings.TrimSpace(size)}
	for _, word := range words {
		n, err := strconv.ParseInt(strings.TrimSpace(word), 10, 48)
		if err != nil || n < 0 || s.Size == "" || doubled && n == 0 {
			return s, fmt.Errorf("%q: expected a size and its values, such as N=64:4096, which doubles, or N=1,100", text)
		}
		if slices.Contains(s.Values, n) && !doubled {
			return s, fmt.Errorf("%q: %d stands there twice", text, n)
		}
		s.Values = append(s.Values, n)
	}
	if doubled {
		end := s.Values[1]
		s.Values = s.Values[:1]
		for n := 2 * s.Values[0]; n <= end && len(s.Values) <= maxSwept; n *= 2 {
			s.Values = append(s.Values, n)
		}
	}
	if len(s.Values) > maxSwept {
		return s, fmt.Errorf("%q: expected at most %d values", text, maxSwept)
	}
	return s, nil
}

// Of is the op with workloads in which the size has each of the values: those that have the size, once for each value. Leading
// dims of the name are one dim then.
func (s Sweep) Of(op *opdef.Op) (*opdef.Op, error) {
	swept := *op
	swept.Workloads = nil
	known := map[string]bool{}
	for _, w := range op.Workloads {
		for name := range w.Sizes {
			known[name] = true
		}
		if op.HasBatch() {
			known[op.Lead()] = true
		}
		if _, has := w.Sizes[s.Size]; !has && (!op.HasBatch() || s.Size != op.Lead()) {
			continue
		}
		for _, n := range s.Values {
			swept.Workloads = append(swept.Workloads, s.at(w, n))
		}
	}
	if len(swept.Workloads) == 0 {
		return nil, fmt.Errorf("no workload of %s has a size %s: they have %s", op.Name, s.Size,
			strings.Join(slices.Sorted(maps.Keys(known)), ", "))
	}
	return &swept, nil
}

// at is a workload with one value of the size.
func (s Sweep) at(w opdef.Workload, n int64) opdef.Workload {
	w.Swept = &opdef.Swept{Workload: w.Name, Size: s.Size, Value: n}
	w.Name = fmt.Sprintf("%s(%s=%d)", w.Name, s.Size, n)
	if _, has := w.Sizes[s.Size]; has {
		w.Sizes = maps.Clone(w.Sizes)
		w.Sizes[s.Size] = n
	} else {
		w.Batch = []int64{n}
	}
	return w
}
