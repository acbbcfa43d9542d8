package cases

import (
	"slices"

	"github.com/opcast/opcast/internal/language/opdef"
)

// tupleValues are lists of the declared length: of equal numbers first, then those in which one number, the furthest from the
// bounds, comes before or behind the others.
func tupleValues(a *opdef.Attr) []any {
	values := intValues(a)
	repeated := func(v any) []int64 { return slices.Repeat([]int64{v.(int64)}, a.Len) }
	var out []any
	for _, v := range values {
		out = append(out, repeated(v))
	}
	last := len(values) - 1
	for _, v := range values[:last] {
		for _, place := range []int{0, a.Len - 1} {
			mixed := repeated(v)
			mixed[place] = values[last].(int64)
			if a.Len > 1 {
				out = append(out, mixed)
			}
		}
	}
	return out
}
