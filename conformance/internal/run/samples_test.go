package run

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/testkit/fake"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
)

func TestSamples(t *testing.T) {
	for name, test := range map[string]struct{ op, body, want string }{
		"ragged rows":   {"ragged", "    cut = rng.integers(0, sizes['R'] + 1, sizes['B'] + 1)\n    cut.sort()\n    return {'indptr': cut}\n", "pass: "},
		"lets":          {"ragged", "    assert sizes['parts'] >= 1\n    return {}\n", "pass: "},
		"leading dims":  {"affine", "    return {'x': rng.dirichlet(np.ones(max(sizes['N'], 1)), sizes['*'])[..., :sizes['N']]}\n", "pass: "},
		"out of range":  {"ragged", "    return {'indptr': rng.integers(0, 3, sizes['B'] + 1) + sizes['R']}\n", "indptr["},
		"not sorted":    {"ragged", "    return {'indptr': np.arange(sizes['B'] + 1)[::-1] % (sizes['R'] + 1)}\n", "which comes after"},
		"a wrong shape": {"ragged", "    return {'indptr': [0, 1]}\n", "indptr: expected shape ["},
		"no input":      {"ragged", "    return {'offsets': [0]}\n", `"offsets" is no input`},
		"raises":        {"ragged", "    return {'indptr': 1 // 0}\n", "ZeroDivisionError"},
	} {
		t.Run(name, func(t *testing.T) {
			op := withModule(t, test.op, "def samples(rng, sizes):\n"+test.body)
			if got := definitionJudged(t, op, "samples"); !strings.Contains(got, test.want) {
				t.Errorf("got %s, want %q", got, test.want)
			}
		})
	}
}

// What an author's samples make reaches calls, whatever a plan says of contents; it is the same for equal calls.
func TestSamplesReachCalls(t *testing.T) {
	op := withModule(t, "ragged", "def samples(rng, sizes):\n    return {'x': rng.permutation(sizes['R'] * sizes['N']).reshape(sizes['R'], -1)}\n")
	oracle := fake.RealOracle(t, time.Minute)
	p := cases.ContentPlans(cases.DTypes{"T": "f32"})[0]
	p.Sampler = oracle.Samplers(t.Context(), []*opdef.Op{op})[op.Name]
	first, err := cases.New(op, p)
	if err != nil {
		t.Fatal(err)
	}
	again, err := cases.New(op, p)
	if err != nil {
		t.Fatal(err)
	}
	values := first.Inputs[0].Floats()
	if !slices.Equal(values, again.Inputs[0].Floats()) {
		t.Error("two calls of one plan differ")
	}
	slices.Sort(values)
	for i, v := range values {
		if v != float64(i) {
			t.Fatalf("x is no permutation: %v", values)
		}
	}
	if !first.Sampled["x"] || first.Sampled["indptr"] {
		t.Errorf("made: %v", first.Sampled)
	}
	for _, layout := range ndarray.Layouts { // what a permutation was made for may not bear the same element twice
		view := first.LaidOut(0, layout)
		all := cases.LaidOutCases(first, layout.Name)
		if changed := all[len(all)-1].Inputs[0] != first.Inputs[0]; (view == nil) != layout.Repeats || changed == layout.Repeats {
			t.Errorf("%s: made %v, changed %v", layout.Name, view != nil, changed)
		}
	}
}
