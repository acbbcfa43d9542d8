package oracle_test

import (
	"math"
	"testing"

	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/oracle"
	"github.com/opcast/opcast/conformance/internal/testkit/fake"
	"github.com/opcast/opcast/internal/language/opdef"
)

// A tolerance that a definition states is meant for inputs of the usual size. Where these are large, what the reference itself loses
// in float32 counts.
func TestForScaled(t *testing.T) {
	op := *fake.ToyOp(t, "affine")
	c, err := cases.New(&op, cases.BasePlan(cases.DTypes{"T": "f32"}))
	if err != nil {
		t.Fatal(err)
	}
	want := oracle.Expected{Shape: []int64{2}, Values: []float64{-17781, 1e39}}
	narrow := oracle.Expected{Shape: []int64{2}, Values: []float64{-17774, math.Inf(1)}}
	if got, derived := oracle.ForScaled(c, 0, want, narrow), oracle.ToleranceOf(c, 0); got != derived {
		t.Errorf("without a stated tolerance: got %v, want %v", got, derived)
	}
	op.Tolerance = map[string]opdef.Tolerance{"f32": {RTol: 1e-4, ATol: 1e-5}}
	if got := oracle.ForScaled(c, 0, want, want); got.Rel != 4e-4 {
		t.Errorf("where the reference loses nothing: got %v, want 4 times the stated tolerance", got)
	}
	if got := oracle.ForScaled(c, 0, want, narrow); got.Rel < 50e-4 || got.Rel > 64e-4 {
		t.Errorf("where the reference loses 3.9 times of it: got %v, want up to 64 times the stated tolerance", got)
	}
}
