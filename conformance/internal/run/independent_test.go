package run

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/checks/definitions"
	"github.com/opcast/opcast/conformance/internal/oracle"
	"github.com/opcast/opcast/conformance/internal/testkit/fake"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/load"
)

// Every op of this repository has a second formula: a wrong reference would make the suite demand a wrong kernel.
func TestIndependentFormulas(t *testing.T) {
	project, findings, err := load.Load("../../..")
	if err != nil || len(findings) > 0 {
		t.Fatal(findings, err)
	}
	for _, op := range project.Ops {
		if err := definitions.HasIndependent(op, calls.Definition{}); err != nil {
			t.Errorf("%s: %v", op.Name, err)
		}
	}
}

// withModule is a toy op with a neighbouring file.
func withModule(t *testing.T, name, module string) *opdef.Op {
	t.Helper()
	op := *fake.ToyOp(t, name)
	op.Module = module
	return &op
}

// definitionJudged runs a check of definitions with the Python oracle.
func definitionJudged(t *testing.T, op *opdef.Op, id string) string {
	t.Helper()
	oracle := fake.RealOracle(t, time.Minute)
	samplers := oracle.Samplers(t.Context(), []*opdef.Op{op})
	s := &Runner{Env: &check.Environment{Project: fake.Toy(t), Device: "cpu", Oracle: oracle, Samplers: samplers}}
	for _, check := range definitions.Checks() {
		if check.ID == id {
			var lines []string
			for _, r := range s.run(t.Context(), op, calls.Definition{}, &check) {
				lines = append(lines, string(r.Status)+": "+r.Reason)
			}
			return strings.Join(lines, "\n")
		}
	}
	t.Fatalf("no check %q", id)
	return ""
}

func TestIndependent(t *testing.T) {
	const formula = "    y = alpha * (x * w) + (0 if bias is None else bias)\n" +
		"    return numpy.maximum(y, 0) if mode == 'relu' else y\n"
	for name, test := range map[string]struct{ module, want string }{
		"agrees":         {"def independent(numpy, x, w, bias, alpha, mode):\n" + formula, "pass: "},
		"forgets bias":   {"def independent(x, w, alpha):\n    return alpha * (x * w)\n", "the independent formula"},
		"another shape":  {"def independent(x):\n    return x[..., :1]\n", "y: the reference gives [2, 3, 5], the independent formula [2, 3, 1]"},
		"too many":       {"def independent(x):\n    return x, x\n", "gives 1 results, the independent formula 2"},
		"raises":         {"def independent(x):\n    return x @ x @ x\n", "fail: base, * = [2, 3]"},
		"missing module": {"def independent(no_such_framework, x):\n    return x\n", "unsupported: the independent formula needs a module: No module named"},
		"none":           {"def samples(rng, sizes):\n    return {}\n", "unsupported: there is no independent formula"},
		"through torch":  {"def independent(torch, x, w, bias, alpha, mode):\n" + strings.ReplaceAll(formula, "numpy.maximum(y, 0)", "torch.relu(y)"), "pass: "},
	} {
		t.Run(name, func(t *testing.T) {
			if got := definitionJudged(t, withModule(t, "affine", test.module), "independent"); !strings.Contains(got, test.want) {
				t.Errorf("got %s, want %q", got, test.want)
			}
		})
	}
}

// A formula gets lists of arrays, or of tensors, and returns such lists.
func TestIndependentOfLists(t *testing.T) {
	const formula = "    ys = [x * w for x in xs]\n" +
		"    return ys, FRAMEWORK.concatenate(ys), FRAMEWORK.asarray([len(x) for x in xs]), [a + y for a, y in zip(totals, ys)]\n"
	for name, test := range map[string]struct{ formula, want string }{
		"numpy":         {formula, "pass: "},
		"torch":         {strings.ReplaceAll(formula, "x * w", "x.mul(w)"), "pass: "},
		"other totals":  {strings.ReplaceAll(formula, "a + y", "a - y"), "the independent formula"},
		"one list less": {"    return xs\n", "gives 6 results, the independent formula 2"},
	} {
		t.Run(name, func(t *testing.T) {
			framework := "numpy"
			if name == "torch" {
				framework = name
			}
			module := "def independent(" + framework + ", xs, totals, w):\n" + strings.ReplaceAll(test.formula, "FRAMEWORK", framework)
			if got := definitionJudged(t, withModule(t, "gather", module), "independent"); !strings.Contains(got, test.want) {
				t.Errorf("got %s, want %q", got, test.want)
			}
		})
	}
}

// Where one formula gives infinity or NaN, so must the other.
func TestApart(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, test := range []struct {
		want, got float64
		apart     bool
	}{
		{1, 1 + 1e-10, false}, {1, 1 + 1e-8, true}, {1e9, 1e9 + 0.1, false},
		{inf, inf, false}, {inf, 1, true}, {inf, -inf, true}, {inf, nan, true}, {1, inf, true}, {1, nan, true},
		{nan, nan, false}, {nan, 1, true}, {nan, inf, true},
	} {
		one := func(v float64) []oracle.Expected { return []oracle.Expected{{Shape: []int64{1}, Values: []float64{v}}} }
		if text := definitions.FormulaDifference(&cases.Case{Op: fake.ToyOp(t, "affine")}, one(test.want), one(test.got)); (text != "") != test.apart {
			t.Errorf("reference %v, formula %v: %q", test.want, test.got, text)
		}
	}
}
