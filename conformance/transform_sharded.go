package conformance

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/opcast/opcast/internal/ndarray"
	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/transform"
)

// sharded compiles for divided arrays and judges program, parts and values.
func (t *T) sharded(s *spread, explicit bool) error {
	name := fmt.Sprintf("%s, explicit: %v", s.c.Name, explicit)
	r, err := t.transform(name, request("sharded", s.options(explicit), s.prepared))
	if err != nil {
		return err
	}
	var facts struct {
		HLO    []string
		Shards [][][][]int64
	}
	if err := r.facts(&facts); err != nil {
		return err
	}
	if !t.spreadValues(name, r, 0, s) {
		return nil
	}
	t.collectives(name, facts.HLO[0], s)
	for i, typ := range s.types() {
		want, err := s.local(typ)
		if err != nil {
			return err
		}
		for _, shard := range facts.Shards[0][i] {
			if list(shard) != list(want) {
				t.Fail(nil, name, "array %d has parts %s, want %s", i, list(shard), list(want))
				break
			}
		}
	}
	return nil
}

// spreadValues compares with one device: bits, but for what is a sum over the devices.
func (t *T) spreadValues(name string, r *transformed, call int, s *spread) bool {
	want, sums := s.want(), s.sums()
	for i := range want {
		if sums[i] {
			want[i] = nil
		}
	}
	if !t.gave(name, r, call, want) {
		return false
	}
	for i, whole := range s.want() {
		if !sums[i] {
			continue
		}
		if text := nearSum(fmt.Sprintf("array %d", i), r.Calls[call].Outputs[i].Array, whole); text != "" {
			t.Fail(nil, name, "%s", text)
			return false
		}
	}
	return true
}

// sums says which of the results and gradients are a sum over the devices.
func (s *spread) sums() []bool {
	out := []bool{}
	partial := func(op *opdef.Op, name string) bool {
		for dim := range s.axes {
			if slices.Contains(roleOf(op, dim).Partial, name) {
				return true
			}
		}
		return false
	}
	for _, result := range s.c.returned() {
		out = append(out, partial(s.c.Op, result.Name))
	}
	given := present(s.c)
	for _, place := range s.wrt {
		out = append(out, partial(s.c.Op.Gradient, opdef.GradName(s.c.Op.Inputs[given[place]].Name)))
	}
	return out
}

// nearSum compares a sum that was made in another order with the whole one.
func nearSum(name string, got, want *ndarray.Array) string {
	if list(got.Shape) != list(want.Shape) || got.DType.Long != want.DType.Long {
		return fmt.Sprintf("%s: got %s%s, want %s%s", name, got.DType.Long, list(got.Shape), want.DType.Long, list(want.Shape))
	}
	largest := 0.0
	for _, v := range want.Floats() {
		largest = max(largest, v, -v)
	}
	allowed := sumSpacings * 8 * ndarray.Spacing(got.DType, largest)
	values := want.Floats()
	for i, v := range got.Floats() {
		if d := v - values[i]; !(max(d, -d) <= allowed) {
			return fmt.Sprintf("%s%s: got %v, want %v", name, list(got.Index(int64(i))), v, values[i])
		}
	}
	return ""
}

// A collective in the text of a compiled program: "%name = shape all-reduce(...)".
var collective = regexp.MustCompile(`\b(all-reduce|all-gather|reduce-scatter|all-to-all|collective-permute|collective-broadcast)(?:-start)?\(`)

// collectives expects none but an all-reduce for what is a sum over the devices: one, or one for each of these arrays.
func (t *T) collectives(name, hlo string, s *spread) {
	for dim := range s.axes {
		if s.c.Op.Gradient != nil && len(s.wrt) > 0 && roleOf(s.c.Op.Gradient, dim).Role == transform.Gathered {
			return // the gradient has to gather
		}
	}
	counts := map[string]int{}
	for _, found := range collective.FindAllStringSubmatch(hlo, -1) {
		counts[found[1]]++
	}
	sums := 0
	for _, isSum := range s.sums() {
		if isSum {
			sums++
		}
	}
	reduces := counts["all-reduce"]
	delete(counts, "all-reduce")
	if len(counts) > 0 || reduces > sums || sums > 0 && reduces == 0 {
		t.Fail(nil, name, "the program has %d all-reduces and %v, want 1 to %d and no others", reduces, counts, sums)
	}
}
