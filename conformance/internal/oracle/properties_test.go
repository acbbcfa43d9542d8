package oracle_test

import (
	"strings"
	"testing"
	"time"

	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/testkit/fake"
	"github.com/opcast/opcast/internal/language/ndarray"
)

// An author's properties see arguments and results by name, and what they assert in vain is told.
func TestProperties(t *testing.T) {
	python := fake.RealOracle(t, time.Minute)
	for text, want := range map[string]string{
		"y, x, alpha):\n    assert y.shape == x.shape and alpha == 1 and y.dtype == 'float64'": "",
		"y):\n    assert (y == 3).all()":                 "",
		"y):\n    assert (y == 4).all(), f'y is {y[0]}'": "y is 3.0",
		"y):\n    assert (y == 4).all()":                 "the assertion in line 2 of affine.py does not hold",
		"y):\n    y.nothing()":                           "AttributeError: ",
		"new_y):\n    pass":                              "TypeError: ",
	} {
		op := *fake.ToyOp(t, "affine")
		op.Module = "def properties(" + text + "\n"
		c, err := cases.New(&op, cases.Plan{Name: "python", DTypes: cases.DTypes{"T": "f16"}, Batch: []int64{}, Sizes: map[string]int64{"N": 2}})
		if err != nil {
			t.Fatal(err)
		}
		y := ndarray.FromFloats(c.DType(op.Outputs[0].Type), []int64{2}, []float64{3, 3})
		got, err := python.Properties(t.Context(), c, []*ndarray.Array{y})
		if err != nil || !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%s: got %q, %v, want %q", text, got, err, want)
		}
	}
}

// What an input that is overwritten holds afterwards has a name of its own, beside what it held.
func TestPropertiesOfOverwritten(t *testing.T) {
	python := fake.RealOracle(t, time.Minute)
	for _, op := range fake.Toy(t).Ops {
		if !cases.OverwritesInputs(op) || op.HasLists() {
			continue
		}
		changed := *op
		name := op.Mutated()[0].Name
		changed.Module = "def properties(" + name + ", new_" + name + "):\n    assert (" + name + " == new_" + name + ").all(), 'changed'\n"
		c, err := cases.New(&changed, cases.BasePlan(cases.DeclaredDTypes(op)[0]))
		if err != nil {
			t.Fatal(err)
		}
		results, err := c.ZeroResults()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := python.Properties(t.Context(), c, results); got != "changed" || err != nil {
			t.Errorf("%s: got %q, %v", op.Name, got, err)
		}
		return
	}
	t.Error("no toy overwrites an input")
}
