package agreement

import (
	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/oracle"
	"github.com/opcast/opcast/internal/language/rule"
)

var pairsCheck = check.Check{
	ID: "pairs", Group: check.GroupAcross, Generated: true,
	Doc:     "functions of two frameworks differ by no more than each may from the reference",
	Through: check.ThroughFunctions, Foreign: check.Judges, Run: check.WithFewerDTypes(checkPairs),
}

func checkPairs(t *check.T) error {
	others := laterFrameworks(t)
	if len(others) == 0 {
		return check.Skip("no other framework has a function for this op")
	}
	return t.EachCase(func(d cases.DTypes) []cases.Plan { return cases.ValuePlans(t.Op, d) }, func(c *cases.Case) error {
		_, mine, err := t.RunCase(t.Caller, c)
		if err != nil {
			return err
		}
		return check.ForEach(others, func(other calls.Caller) error {
			theirs, err := t.RunBaseline(other, c)
			if err != nil {
				return err
			}
			compareResults(t, c, mine, theirs, other.Name())
			return nil
		})
	})
}

// laterFrameworks are the frameworks after the present one that have a function for the op: every pair comes once.
func laterFrameworks(t *check.T) []calls.Caller {
	var out []calls.Caller
	for _, c := range t.Env.Callers {
		if c.Name() > t.Caller.Name() && t.Env.Foreign.Has(t.Op, c.Name()) {
			out = append(out, c)
		}
	}
	return out
}

// compareResults compares two results of one call and keeps the distances, as errors of one against the other.
func compareResults(t *check.T, c *cases.Case, mine, theirs *calls.Result, other string) {
	for i, o := range mine.Existing() {
		name, bound := cases.Slots(t.Op)[i].Name, oracle.ToleranceOf(c, i)
		got, want := o.Array, theirs.Outputs[i].Array
		if want == nil || got.DType != want.DType || rule.List(got.Shape) != rule.List(want.Shape) {
			t.Fail(calls.New(c), c.Name, "%s: got %s%s, %s gives something else", name, got.DType.Long, rule.List(got.Shape), other)
			continue
		}
		twice := oracle.Tolerance{ULPs: 2 * bound.ULPs, Abs: 2 * bound.Abs, Rel: 2 * bound.Rel}
		found := oracle.Inspect(got, oracle.ExpectedOf(want), nil, twice)
		if t.Env.Errors != nil {
			key := oracle.HistogramKey{Op: t.Op.Name, Adaptor: t.Caller.Name() + " against " + other, Kernel: "", DTypes: t.CurrentRow().DTypes, Output: name}
			t.Env.Errors.Add(key, got, &found, twice)
		}
		if text := found.Text(name, got, twice); text != "" {
			t.Fail(calls.New(c), c.Name, "%s, of %s", text, other)
		}
	}
}
