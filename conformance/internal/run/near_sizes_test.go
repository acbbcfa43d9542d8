package run

import (
	"slices"
	"strings"
	"testing"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/checks/definitions"
	"github.com/opcast/opcast/conformance/internal/testkit/fake"
	"github.com/opcast/opcast/conformance/internal/testkit/loadtest"
	"github.com/opcast/opcast/internal/testkit/tooltest"
)

// Where conditions exclude the usual sizes, others near them are tried, and those at which conditions change; and every condition
// is broken by some call.
func TestSizesNearConditions(t *testing.T) {
	const (
		x = `  { name = "x", type = "f32[*, N]", doc = "An input." },` + "\n"
		y = "\n" + `outputs = [{ name = "y", type = "f32[*, N]", doc = "A result." }]`
	)
	for requires, want := range map[string][]int64{
		``:                                      {1, 2, 7, 64, 129, 1031},
		`"N % 2 == 0"`:                          {2, 8, 64, 130, 1032},
		`"N % 2 == 0", "N <= 4096"`:             {2, 8, 64, 130, 1032, 4096},
		`"N % 128 == 0"`:                        {128, 256, 1152},
		`"N < 100"`:                             {1, 2, 7, 64, 99},
		`"N >= 64", "N % 3 == 0"`:               {66, 129, 1032},
		`"N % 2 == 0 and N <= 4096 or N == 37"`: {2, 8, 64, 130, 1032, 4096},
	} {
		op := written(t, x, "", "require = ["+requires+"]"+y)
		var got []int64
		for _, p := range cases.SizePlans(op, nil, cases.DeclaredDTypes(op)[0]) {
			if _, err := cases.New(op, p); err == nil && len(p.Sizes) > 0 {
				got = append(got, p.Sizes["N"])
			}
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("require = [%s]: sizes %v, want %v", requires, got, want)
		}
		one := &check.T{Ctx: t.Context(), Env: &check.Environment{Project: fake.Toy(t), Device: "cpu"}, Op: op, Caller: calls.Definition{}}
		if err := definitions.CheckFaultCoverage(one); err != nil || len(one.CurrentRow().Failures) > 0 || one.CurrentRow().Note != "" {
			t.Errorf("require = [%s]: %v %v %s", requires, err, one.CurrentRow().Failures, one.CurrentRow().Note)
		}
	}
}

// Where the other arrays of a usual call are empty, no call shows that what is written lies apart from them.
func TestNothingToLieBeside(t *testing.T) {
	p := loadtest.Load(t, tooltest.Project(t, "turn", `doc = "Turn x."
kind = 0
dtypes = { T = ["f32"] }
inputs = [
  { name = "x", type = "T[A, B]", mutated = true, doc = "A." },
  { name = "by", type = "f32[A, len(more)]", optional = true, doc = "A." },
]
attrs = [{ name = "more", type = "int[]", min = 0, max = 4, default = [], doc = "A." }]
outputs = []
reference = "return x[:, ::-1]"
`))
	if got := definitionJudged(t, p.Ops[0], "fault-coverage"); !strings.HasPrefix(got, "pass") {
		t.Error(got)
	}
}
