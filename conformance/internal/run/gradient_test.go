package run

import (
	"strings"
	"testing"
	"time"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/checks/definitions"
	"github.com/opcast/opcast/conformance/internal/oracle"
	"github.com/opcast/opcast/conformance/internal/testkit/fake"
)

// A wrong gradient is found whatever is wrong with it; the right one passes.
func TestPlantedGradients(t *testing.T) {
	oracle := fake.RealOracle(t, time.Minute)
	for name, test := range map[string]struct{ old, new string }{
		"right":                       {"", ""},
		"a sign is wrong":             {"grad * w - s**3", "grad * w + s**3"},
		"a term is missing":           {" - s**3 * x * along", ""},
		"a power is wrong":            {"s**3", "s**2"},
		"a sum is a maximum":          {"xp.sum(grad, axis=rows)", "xp.max(grad, axis=rows)"},
		"a sum is a mean":             {"xp.sum(grad, axis=rows)", "xp.mean(grad, axis=rows)"},
		"a weight is forgotten":       {"s * grad * w", "s * grad"},
		"an attr is ignored":          {"grad_y if negative else grad_y * (y > 0)", "grad_y"},
		"eps is ignored":              {"s, rows = scale[..., None],", "s, rows = 1 / xp.sqrt(xp.sum(x * x, axis=-1, keepdims=True)),"},
		"an output for another":       {"grad_y * (y > 0)", "grad_y * (x > 0)"},
		"an optional gradient is off": {"else xp.sum(grad, axis=rows)", "else 2 * xp.sum(grad, axis=rows)"},
	} {
		t.Run(name, func(t *testing.T) {
			op := *fake.ToyOp(t, "norm")
			backward := *op.Gradient
			op.Gradient = &backward
			if !strings.Contains(backward.Reference, test.old) {
				t.Fatalf("the reference lacks %q", test.old)
			}
			backward.Reference = strings.Replace(backward.Reference, test.old, test.new, 1)
			check := &check.T{Ctx: t.Context(), Env: &check.Environment{Device: "cpu", Oracle: oracle}, Op: &op, Caller: calls.Definition{}}
			if err := definitions.CheckGradient(check); err != nil {
				t.Fatal(err)
			}
			if found := len(check.CurrentRow().Failures) > 0; found != (test.old != "") {
				t.Errorf("failures: %v", check.CurrentRow().Failures)
			}
			if check.CurrentRow().Checked < 8 {
				t.Errorf("only %d cases", check.CurrentRow().Checked)
			}
		})
	}
}

// What stays infinite does not change: it hides no derivative of other results, as a log-sum-exp of nothing would.
func TestGradientsBesideInfinities(t *testing.T) {
	op := *fake.ToyOp(t, "norm")
	backward := *op.Gradient
	op.Gradient = &backward
	const first = "xp.arange(x.shape[-1]) == 0"
	op.Reference = strings.Replace(op.Reference, "return y", "y = xp.where("+first+", -xp.inf, y)\nreturn y", 1)
	backward.Reference = "grad_y = xp.where(" + first + ", 0, grad_y)\n" + backward.Reference
	env := &check.Environment{Device: "cpu", Oracle: fake.RealOracle(t, time.Minute)}
	check := &check.T{Ctx: t.Context(), Env: env, Op: &op, Caller: calls.Definition{}}
	if err := definitions.CheckGradient(check); err != nil {
		t.Fatal(err)
	}
	if row := check.CurrentRow(); len(row.Failures) > 0 || row.Checked < 8 {
		t.Errorf("%d cases, failures: %v", row.Checked, row.Failures)
	}
}

// Where a function has no derivative, finite differences say nothing; a function without any is refused.
func TestKinks(t *testing.T) {
	values := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	smooth := make([]float64, len(values))
	one, most := append([]float64{1}, smooth[1:]...), []float64{1, 1, 1, 0, 0, 0, 0, 0, 0, 0}
	got := oracle.Expected{Shape: []int64{10}, Values: append([]float64{99}, values[1:]...)}
	for _, test := range []struct {
		spread []float64
		text   string
	}{
		{one, ""},
		{smooth, "[0]: the reference gives 99, finite differences of the op give 1"},
		{most, "3 of 10 elements have no derivative"},
	} {
		if text := definitions.GradientDifference(got, oracle.FiniteDifferences{Shape: got.Shape, Values: values, Spread: test.spread}); text != test.text {
			t.Errorf("got %q, want %q", text, test.text)
		}
	}
}
