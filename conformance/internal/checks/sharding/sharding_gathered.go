package sharding

import (
	"fmt"
	"slices"

	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/transform"
)

var shardingGatheredCheck = onDevices("sharding-gathered", "sharding",
	"along any other dim, and along one of two that share an axis, parts are put together first and results are right", checkGathered)

// checkGathered divides along dims that are not independent, and two dims of different inputs along one axis of the mesh, of
// which a result that has both can keep one: whatever the program does, the values are right.
func checkGathered(t *check.T) error {
	d, err := t.FirstDTypes()
	if err != nil {
		return err
	}
	dims, pairs := gathered(t.Op), unrelatedDims(t.Op, dividable(t.Op))
	if len(dims)+len(pairs) == 0 {
		return check.Skip("every dim that stands alone is parallel")
	}
	for _, dim := range dims {
		for _, explicit := range []bool{false, true} {
			if err := check.Proceed(checkGatheredDims(t, d, map[string]string{dim: "i"}, explicit, true)); err != nil {
				return err
			}
		}
	}
	return check.ForEach(pairs, func(pair [2]string) error { // no array can have both, not even a cotangent
		return checkGatheredDims(t, d, map[string]string{pair[0]: "i", pair[1]: "i"}, false, false)
	})
}

// checkGatheredDims divides along these dims and compares with one device.
func checkGatheredDims(t *check.T, d cases.DTypes, axes map[string]string, explicit, gradients bool) error {
	s, err := newSharding(t, d, axes, []int64{2}, nil, gradients)
	if err != nil {
		return err
	}
	return expectOneDeviceValues(t, fmt.Sprintf("%s, explicit: %v", s.C.Name, explicit), "sharded", s, explicit)
}

// unrelatedDims are the pairs of dims that no input has both of.
func unrelatedDims(op *opdef.Op, dims []string) [][2]string {
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

// gathered are the other ones that stand alone.
func gathered(op *opdef.Op) []string {
	return slices.DeleteFunc(StandaloneDims(op), func(dim string) bool { return roleOf(op, dim).Role != transform.Gathered })
}
