package run

import (
	"testing"

	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/checks/random"
	"github.com/opcast/opcast/conformance/internal/testkit/fake"
)

// checkNamed finds a check.
func checkNamed(t *testing.T, id string) check.Check {
	t.Helper()
	for _, c := range Checks() {
		if c.ID == id {
			return c
		}
	}
	t.Fatalf("no check %q", id)
	return check.Check{}
}

// The total goes before the number for each op, and is reached or exceeded by a few.
func TestRandomCalls(t *testing.T) {
	p := fake.Toy(t)
	n := len(p.Ops)
	for name, test := range map[string]struct {
		options Options
		want    int
	}{
		"nothing":  {Options{}, random.CallsPerOp},
		"each":     {Options{Effort: Effort{Random: 7}}, 7},
		"total":    {Options{Effort: Effort{Random: 7, RandomTotal: 10*n + 1}}, 11},
		"some ops": {Options{Scope: Scope{Ops: []string{"affine", "norm"}}, Effort: Effort{RandomTotal: 100}}, 50},
	} {
		test.options.Project = p
		if got := test.options.randomCalls(); got != test.want {
			t.Errorf("%s: got %d, want %d", name, got, test.want)
		}
	}
}
