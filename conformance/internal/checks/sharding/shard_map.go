package sharding

import (
	"fmt"
	"slices"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/transformed"
)

var shardMapCheck = onDevices("shard-map", "sharding",
	"inside jax.shard_map, in a loop, and differentiated, parts give the bits of the whole", checkShardMap)

// checkShardMap gives the op the parts.
func checkShardMap(t *check.T) error {
	return eachDividable(t, 4, func(s *sharding) error {
		if slices.Contains(s.sums()[:len(s.Results)], true) {
			return nil // inside of shard_map, summing over the devices is the user's business
		}
		if s.keepsResults() {
			return nil // that such a result is the same everywhere, JAX cannot see: all results of a call vary alike
		}
		r, err := transformed.Send(t, s.C.Name, transformed.Request("shard_map", s.options(false), s.PreparedCall), nil)
		if err != nil {
			return err
		}
		transformed.Expect(t, s.C.Name+", in a loop", r.In("loop", 0), s.Results)
		if len(s.Wrt) > 0 {
			shardMapGradients(t, s, r)
		}
		return nil
	})
}

// keepsResults reports whether some result does not depend on what is divided.
func (s *sharding) keepsResults() bool {
	return slices.ContainsFunc(s.C.Returned(), func(result cases.Slot) bool {
		for dim := range s.axes {
			if !result.Has(dim) {
				return true
			}
		}
		return false
	})
}

// shardMapGradients compares gradients through shard_map: what is not divided is summed over the devices, in some order.
func shardMapGradients(t *check.T, s *sharding, r *calls.Transformed) {
	name := s.C.Name + ", gradients"
	got, ok := transformed.Arrays(t, name, r.In("gradients", 0), len(s.Expected()))
	for i := 0; ok && i < len(got); i++ {
		if text := transformed.NearSum(fmt.Sprintf("array %d", i), got[i].Array, s.Expected()[i]); text != "" {
			t.Fail(nil, name, "%s", text)
		}
	}
}
