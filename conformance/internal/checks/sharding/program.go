package sharding

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/transformed"
	"github.com/opcast/opcast/internal/language/rule"
	"github.com/opcast/opcast/internal/language/transform"
)

// checkShardedProgram compiles for divided arrays and judges program, parts and values.
func checkShardedProgram(t *check.T, s *sharding, explicit bool) error {
	if explicit && s.C.Empty() {
		return t.Inexpressible("XLA gives every device all of a result without elements, which JAX then cannot read")
	}
	name := fmt.Sprintf("%s, explicit: %v", s.C.Name, explicit)
	var facts struct {
		HLO    []string
		Shards [][][][]int64
	}
	r, err := transformed.Send(t, name, transformed.Request("sharded", s.options(explicit), s.PreparedCall), &facts)
	if err != nil || !expectShardedValues(t, name, r.In("", 0), s) {
		return err
	}
	collectives(t, name, facts.HLO[0], s)
	for i, arg := range s.arrays() {
		want, err := s.local(arg)
		if err != nil {
			return err
		}
		for _, shard := range facts.Shards[0][i] {
			if !IsPart(shard, want) {
				t.Fail(nil, name, "array %d has parts %s, want %s", i, rule.List(shard), rule.List(want))
				break
			}
		}
	}
	return nil
}

// IsPart reports whether a device has the part of an array that it should have. Of an array without elements XLA may give all
// of it to every device.
func IsPart(got, want []int64) bool {
	return slices.Equal(got, want) || slices.Contains(got, 0) && slices.Contains(want, 0)
}

// expectShardedValues compares with one device: bits, but for what is a sum over the devices.
func expectShardedValues(t *check.T, name string, c *calls.TransformedCall, s *sharding) bool {
	want, sums := s.Expected(), s.sums()
	for i := range want {
		if sums[i] {
			want[i] = nil
		}
	}
	if !transformed.ExpectParts(t, name, c, want) {
		return false
	}
	for i, whole := range s.Expected() {
		if !sums[i] {
			continue
		}
		if text := transformed.NearSum(fmt.Sprintf("array %d", i), c.Outputs[i].Array, whole); text != "" {
			t.Fail(nil, name, "%s", text)
			return false
		}
	}
	return true
}

// A collective in the text of a compiled program: "%name = shape all-reduce(...)".
var collective = regexp.MustCompile(`\b(all-reduce|all-gather|reduce-scatter|all-to-all|collective-permute|collective-broadcast)(?:-start)?\(`)

// collectives expects none but an all-reduce for what is a sum over the devices: one, or one for each of these arrays.
func collectives(t *check.T, name, hlo string, s *sharding) {
	for dim := range s.axes {
		if s.C.Op.Gradient != nil && len(s.Wrt) > 0 && roleOf(s.C.Op.Gradient, dim).Role == transform.Gathered {
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
