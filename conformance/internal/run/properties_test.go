package run

import (
	"context"
	"slices"
	"testing"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/testkit/fake"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/results/report"
)

// sayingOracle says of all results what its text is.
type sayingOracle struct {
	fakeOracle
	text string
}

func (o sayingOracle) Properties(context.Context, *cases.Case, []*ndarray.Array) (string, error) {
	return o.text, nil
}

// What an author's properties say against results is a failure, with their words.
func TestPropertiesAreHeld(t *testing.T) {
	i := slices.IndexFunc(Checks(), func(c check.Check) bool { return c.ID == "properties" })
	caller := &fake.Framework{CallerName: "numpy"}
	for text, want := range map[string]report.Status{"": report.Pass, "a row does not sum to 1": report.Fail} {
		op := *fake.ToyOp(t, "affine")
		op.Module = "def properties(y):\n    pass\n"
		s := &Runner{Env: &check.Environment{
			Project: fake.Toy(t), Device: "cpu", Oracle: sayingOracle{text: text}, Callers: []calls.Caller{caller},
		}}
		results := s.run(t.Context(), &op, caller, &Checks()[i])
		if len(results) == 0 || slices.ContainsFunc(results, func(r report.Result) bool { return r.Status != want }) {
			t.Errorf("%q: got %+v, want %s", text, results, want)
		}
	}
}
