package conformance

import (
	"fmt"
	"slices"

	"github.com/opcast/opcast/internal/ndarray"
	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/transform"
)

// checkGathered divides along dims that are not independent, and two dims of different inputs along one axis of the mesh, of
// which a result that has both can keep one: whatever the program does, the values are right.
func checkGathered(t *T) error {
	d, err := t.firstDTypes()
	if err != nil {
		return err
	}
	dims, pairs := gathered(t.Op), strangers(t.Op, dividable(t.Op))
	if len(dims)+len(pairs) == 0 {
		return skip("every dim that stands alone is parallel")
	}
	for _, dim := range dims {
		for _, explicit := range []bool{false, true} {
			if err := proceed(t.gathers(d, map[string]string{dim: "i"}, explicit, true)); err != nil {
				return err
			}
		}
	}
	for _, pair := range pairs { // no array can have both, not even a cotangent
		if err := proceed(t.gathers(d, map[string]string{pair[0]: "i", pair[1]: "i"}, false, false)); err != nil {
			return err
		}
	}
	return nil
}

// gathers divides along these dims and compares with one device.
func (t *T) gathers(d dtypes, axes map[string]string, explicit, gradients bool) error {
	s, err := t.spreadOf(d, axes, []int64{2}, nil, gradients)
	if err != nil {
		return err
	}
	return t.asWhole(fmt.Sprintf("%s, explicit: %v", s.c.Name, explicit), "sharded", s, explicit)
}

// asWhole calls in a way that divides arrays, and expects what one device gives.
func (t *T) asWhole(name, way string, s *spread, explicit bool) error {
	r, err := t.transform(name, request(way, s.options(explicit), s.prepared))
	if err != nil {
		return err
	}
	t.spreadValues(name, r, 0, s)
	return nil
}

// strangers are the pairs of dims that no input has both of.
func strangers(op *opdef.Op, dims []string) [][2]string {
	var out [][2]string
	for i, first := range dims {
		for _, second := range dims[i+1:] {
			if !slices.ContainsFunc(op.Inputs, func(a opdef.Arg) bool { return a.Has(first) && a.Has(second) }) {
				out = append(out, [2]string{first, second})
			}
		}
	}
	return out
}

// checkUneven divides along each dim that allows it, but by a number of devices that its size is no multiple of.
func checkUneven(t *T) error {
	return t.eachDividable(3, func(s *spread) error { return t.asWhole(s.c.Name, "uneven", s, false) })
}

// eachDividable runs a body for each dim that allows it, divided by a number of devices.
func (t *T) eachDividable(devices int64, body func(s *spread) error) error {
	d, err := t.firstDTypes()
	if err != nil {
		return err
	}
	dims := dividable(t.Op)
	if len(dims) == 0 {
		return skip("no dim can be divided")
	}
	for _, dim := range dims {
		s, err := t.spreadOf(d, map[string]string{dim: "i"}, []int64{devices}, nil, true)
		if err != nil {
			return err
		}
		if err := proceed(body(s)); err != nil {
			return err
		}
	}
	return nil
}

// checkShardMap gives the op the parts.
func checkShardMap(t *T) error {
	return t.eachDividable(4, func(s *spread) error {
		if slices.Contains(s.sums()[:len(s.results)], true) {
			return nil // inside of shard_map, summing over the devices is the user's business
		}
		r, err := t.transform(s.c.Name, request("shard_map", s.options(false), s.prepared))
		if err != nil {
			return err
		}
		t.gave(s.c.Name+", in a loop", r, 0, s.results)
		if len(s.wrt) > 0 {
			t.shardMapGradients(s, r)
		}
		return nil
	})
}

// shardMapGradients compares gradients through shard_map: what is not divided is summed over the devices, in some order.
func (t *T) shardMapGradients(s *spread, r *transformed) {
	name := s.c.Name + ", gradients"
	got, ok := t.outputs(name, r, 1, len(s.want()))
	for i := 0; ok && i < len(got); i++ {
		if text := nearSum(fmt.Sprintf("array %d", i), got[i].Array, s.want()[i]); text != "" {
			t.Fail(nil, name, "%s", text)
		}
	}
}

// checkDTensor divides along every dim that stands alone, by two processes.
func checkDTensor(t *T) error {
	return t.eachPresence(func(c *Case) error {
		dims := plainSizes(t.Op)
		if len(dims) == 0 {
			return skip("no dim stands alone")
		}
		for _, dim := range dims {
			s, err := t.spreadOf(c.DTypes, map[string]string{dim: "i"}, []int64{2}, absent(c), true)
			if err != nil {
				return err
			}
			if err := proceed(t.placed(s, dim)); err != nil {
				return err
			}
		}
		return nil
	})
}

// placement is how DTensor calls the way in which an argument with these dims is divided.
func placement(c *Case, t opdef.Type, dim string) string {
	if at := axisIn(c, t, dim); at >= 0 {
		return fmt.Sprintf("S(%d)", at)
	}
	return "R"
}

// placements are those that results and gradients must have; nil where the dim is gathered and nothing is promised.
func (s *spread) placements(dim string) []string {
	var out []string
	sums := s.sums()
	forward := roleOf(s.c.Op, dim).Role != transform.Gathered
	backward := forward && s.c.Op.Gradient != nil && roleOf(s.c.Op.Gradient, dim).Role != transform.Gathered
	for i, typ := range s.types() {
		known := forward
		if i >= len(s.results) {
			known = backward
		}
		switch {
		case !known:
			out = append(out, "")
		case sums[i]:
			out = append(out, "P(sum)")
		default:
			out = append(out, placement(s.c, typ, dim))
		}
	}
	return out
}

// placed calls with DTensors and compares placements and values.
func (t *T) placed(s *spread, dim string) error {
	inputs, cotangents := []string{}, []string{}
	for _, i := range present(s.c) {
		inputs = append(inputs, placement(s.c, t.Op.Inputs[i].Type, dim))
	}
	want := s.placements(dim)
	for i := range s.arguments.cotangents {
		place := "R"
		if want[i] != "" && want[i][0] == 'S' {
			place = want[i]
		}
		cotangents = append(cotangents, place)
	}
	r, err := t.transform(s.c.Name, request("dtensor", map[string]any{"inputs": inputs, "cotangents": cotangents}, s.prepared))
	if err != nil {
		return err
	}
	if mutates(t.Op) && roleOf(t.Op, dim).Role == transform.Gathered {
		t.notImplemented(s.c.Name, r, 0, t.Op.Name+": ") // what is put together first is a copy: it cannot be overwritten
		return nil
	}
	if !t.dtensorValues(s, r) {
		return nil
	}
	return t.communicated(s, r, want)
}

// communicated compares placements, and expects no communication where they are promised.
func (t *T) communicated(s *spread, r *transformed, want []string) error {
	var facts struct {
		Placements        [][]string
		Forward, Backward map[string]int
	}
	if err := r.facts(&facts); err != nil {
		return err
	}
	for i, w := range want {
		if got := facts.Placements[i][0]; w != "" && got != w {
			t.Fail(nil, s.c.Name, "array %d has placement %s, want %s", i, got, w)
		}
	}
	if want[0] != "" && len(facts.Forward) > 0 {
		t.Fail(nil, s.c.Name, "the forward pass communicates: %v", facts.Forward)
	}
	if last := want[len(want)-1]; last != "" && len(s.wrt) > 0 && len(facts.Backward) > 0 {
		t.Fail(nil, s.c.Name, "the backward pass communicates: %v", facts.Backward)
	}
	return nil
}

// dtensorValues compares the whole arrays: bits where nothing was summed over the processes.
func (t *T) dtensorValues(s *spread, r *transformed) bool {
	sums, ok := s.sums(), true
	got, counted := t.outputs(s.c.Name, r, 0, len(s.want()))
	for i := 0; counted && i < len(got); i++ {
		compare := func(name string, a, b *ndarray.Array) string { return sameBits(name, a, b) }
		if sums[i] {
			compare = nearSum
		}
		if text := compare(fmt.Sprintf("array %d", i), got[i].Array, s.want()[i]); text != "" {
			t.Fail(nil, s.c.Name, "%s", text)
			ok = false
		}
	}
	return counted && ok
}
