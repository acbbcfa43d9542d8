package transformed

import (
	"fmt"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/oracle"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/rule"
)

// ExpectParts is Expect where a framework makes one call of several, or several of one, as parallel dims allow: kernels that
// promise no bits for parts may give others.
func ExpectParts(t *check.T, name string, c *calls.TransformedCall, want []*ndarray.Array) bool {
	return expect(t, name, c, want, SameParts(t))
}

// SameParts compares the results of parts with those of the whole: bits, unless a kernel promises none for parts.
func SameParts(t *check.T) comparison {
	if t.KeepsParts() {
		return oracle.SameBits
	}
	return NearSum
}

// NearSum compares a sum that was made in another order with the whole one.
func NearSum(name string, got, want *ndarray.Array) string {
	if rule.List(got.Shape) != rule.List(want.Shape) || got.DType.Long != want.DType.Long {
		return fmt.Sprintf("%s: got %s%s, want %s%s", name, got.DType.Long, rule.List(got.Shape), want.DType.Long, rule.List(want.Shape))
	}
	largest := 0.0
	for _, v := range want.Floats() {
		largest = max(largest, v, -v)
	}
	allowed := SumSpacings * 8 * ndarray.Spacing(got.DType, largest)
	values := want.Floats()
	for i, v := range got.Floats() {
		if d := v - values[i]; !(max(d, -d) <= allowed) {
			return fmt.Sprintf("%s%s: got %v, want %v", name, rule.List(got.Index(int64(i))), v, values[i])
		}
	}
	return ""
}
