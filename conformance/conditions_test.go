package conformance

import (
	"slices"
	"testing"

	"github.com/opcast/opcast/conformance/calls"
	"github.com/opcast/opcast/conformance/cases"
	"github.com/opcast/opcast/conformance/invalid"
	"github.com/opcast/opcast/internal/opdef/expr"
)

// Samples are found on both sides of a condition of a kernel, wherever in the range of an attribute it changes.
func TestMeetingConditionsOnAttrs(t *testing.T) {
	const (
		x = `  { name = "x", type = "f32[N]", doc = "An input." },` + "\n"
		y = `outputs = [{ name = "y", type = "f32[N]", doc = "A result." }]`
	)
	attrs := `  { name = "f", type = "float", default = 0.5, doc = "A factor." },
  { name = "n", type = "int", default = 3, min = 0, max = 99, doc = "A number." },
  { name = "m", type = "str", one_of = ["one", "two"], default = "one", doc = "A choice." },
`
	op := written(t, x, attrs, y)
	for _, text := range []string{"f <= 1", "f > 0.25", "n > 2", "n != 41", "n % 50 == 49", "m == 'two'", "N % 64 == 0", "not m == 'one'"} {
		for _, condition := range []*expr.Expr{condition(t, text), condition(t, "not ("+text+")")} {
			p := cases.BasePlan(cases.DTypes{})
			p.When = condition
			c, err := cases.Meeting(op, p)
			if err != nil {
				t.Errorf("%s: %v", condition.Text, err)
			} else if c.EvalCondition(condition) != expr.KnownTrue {
				t.Errorf("%s: not met by %s", condition.Text, c.Name)
			}
		}
	}
}

// A predicate of an author is tried with sizes that most like.
func TestPredicatesGetRoundSizes(t *testing.T) {
	const (
		x = `  { name = "x", type = "f32[N]", doc = "An input." },` + "\n"
		y = `outputs = [{ name = "y", type = "f32[N]", doc = "A result." }]` + "\n"
	)
	for rest, want := range map[string]bool{"": false, "[[kernels]]\nname = \"made\"\ndevice = \"cpu\"\nsupported = true\n": true} {
		text := y + "reference = \"return 1\"\n" + rest
		op := writtenAs(t, x, "", text)
		round := slices.ContainsFunc(cases.ValuePlans(op, cases.DTypes{}), func(p cases.Plan) bool { return p.Sizes["N"] == 64 })
		if round != want {
			t.Errorf("%s: got %v", rest, round)
		}
	}
}

// A call that has nothing to write starts no kernel, and so needs no scratch.
func TestEmptyCallsNeedNoScratch(t *testing.T) {
	x := `  { name = "x", type = "f32[N]", doc = "An input." },` + "\n"
	for dim, want := range map[string]bool{"N": true, "0": false} {
		op := written(t, x, "", `outputs = [{ name = "y", type = "f32[`+dim+`]", doc = "A result." }]`+"\nscratch = [{ name = \"s\", type = \"u8[N]\" }]")
		c, err := cases.New(op, cases.BasePlan(cases.DTypes{}))
		if err != nil {
			t.Fatal(err)
		}
		changes, err := invalid.Scratch(c, calls.StubCaller{CallerName: calls.BackendName}, "cpu")
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.ContainsFunc(changes, func(f invalid.Change) bool { return f.Kind == "scratch missing" }); got != want {
			t.Errorf("output of %s: asked for scratch %v, want %v", dim, got, want)
		}
	}
}
