package cases_test

import (
	"testing"

	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/internal/language/opdef"
)

// Few calls have all pairs of values, also with and without an optional input.
func TestPairPlans(t *testing.T) {
	op := &opdef.Op{
		Inputs:  []opdef.Arg{{Name: "x"}, {Name: "bias", Optional: true}},
		Outputs: []opdef.Arg{{Name: "y"}},
		Attrs: []opdef.Attr{
			{Name: "a", Type: "bool"}, {Name: "b", Type: "bool"}, {Name: "mode", Type: "str", OneOf: []string{"p", "q", "r"}},
		},
	}
	plans := cases.PairPlans(op, cases.DTypes{})
	if len(plans) < 6 || len(plans) > 9 { // 3 * 2 at least
		t.Errorf("got %d calls", len(plans))
	}
	pairs := map[[4]any]bool{}
	for _, p := range plans {
		all := map[string]any{"bias": len(p.Without) == 0}
		for name, v := range p.Attrs {
			all[name] = v
		}
		for name, v := range all {
			for other, w := range all {
				if name < other {
					pairs[[4]any{name, v, other, w}] = true
				}
			}
		}
	}
	if want := 3*2*3 + 3*4; len(pairs) != want {
		t.Errorf("got %d pairs, want %d", len(pairs), want)
	}
}
