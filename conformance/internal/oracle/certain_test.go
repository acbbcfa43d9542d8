package oracle_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/oracle"
	"github.com/opcast/opcast/conformance/internal/testkit/fake"
	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/ndarray"
)

// A formula is a reference and what a kernel computes for a row, rounding every step to one type.
type formula struct {
	reference string
	row       func(x, w []float64, round func(float64) float64) []float64
}

func each(x []float64, f func(v float64) float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = f(v)
	}
	return out
}

func sum(x []float64, round func(float64) float64) (s float64) {
	for _, v := range x {
		s = round(s + v)
	}
	return s
}

var formulas = map[string]formula{
	"softmax": {"e = xp.exp(x - x.max(-1, keepdims=True)); return e / e.sum(-1, keepdims=True)", func(x, _ []float64, round func(float64) float64) []float64 {
		top := math.Inf(-1)
		for _, v := range x {
			top = max(top, v)
		}
		e := each(x, func(v float64) float64 { return round(math.Exp(v - top)) })
		s := sum(e, round)
		return each(e, func(v float64) float64 { return round(v / s) })
	}},
	"gate": {"return x / (1 + xp.exp(-x)) * w", func(x, w []float64, round func(float64) float64) []float64 {
		out := each(x, func(v float64) float64 { return round(v / round(1+round(math.Exp(-v)))) })
		for i := range out {
			out[i] = round(out[i] * w[i])
		}
		return out
	}},
	"root mean square": {"return x / xp.sqrt((x * x).mean(-1, keepdims=True)) * w", func(x, w []float64, round func(float64) float64) []float64 {
		s := sum(each(x, func(v float64) float64 { return round(v * v) }), round)
		scale := round(1 / round(math.Sqrt(round(s/float64(len(x))))))
		out := each(x, func(v float64) float64 { return round(v * scale) })
		for i := range out {
			out[i] = round(out[i] * w[i])
		}
		return out
	}},
	"difference": {"return x - x.mean(-1, keepdims=True)", func(x, _ []float64, round func(float64) float64) []float64 {
		mean := round(sum(x, round) / float64(len(x)))
		return each(x, func(v float64) float64 { return round(v - mean) })
	}},
	"weighed difference": {"return w * (x - (x * w).sum(-1, keepdims=True))", func(x, w []float64, round func(float64) float64) []float64 {
		s := 0.0
		for i := range x {
			s = round(s + round(x[i]*w[i]))
		}
		out := each(x, func(v float64) float64 { return round(v - s) })
		for i := range out {
			out[i] = round(out[i] * w[i])
		}
		return out
	}},
}

// results are those of a formula for all rows.
func (f formula) results(c *cases.Case, round func(float64) float64) []float64 {
	x, w := c.Inputs[0].Floats(), c.Inputs[1].Floats()
	var out []float64
	for ; len(x) > 0; x = x[len(w):] {
		out = append(out, f.row(x[:len(w)], w, round)...)
	}
	return out
}

// hardCases are those of the check, for the toy affine with another reference.
func hardCases(t *testing.T, reference string) []*cases.Case {
	t.Helper()
	op, d := *fake.ToyOp(t, "affine"), cases.DTypes{"T": "f32"}
	op.Reference = reference
	var out []*cases.Case
	for _, p := range cases.HardPlans(&op, d)[:1] {
		c, err := cases.New(&op, p)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, c.Hard()...)
	}
	for _, p := range cases.HardSumPlans(&op, d, 32) {
		c, err := cases.New(&op, p)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, c.HardSums()...)
	}
	return out
}

// Kernels that compute in floats are found by inputs that are hard; those that compute in double and round once never are.
func TestHardFloatsFindKernelsInFloat(t *testing.T) {
	python := fake.RealOracle(t, time.Minute)
	for name, f := range formulas {
		found := 0
		for _, c := range hardCases(t, f.reference) {
			want, err := oracle.Certain(t.Context(), python, c)
			if err != nil {
				t.Fatal(err)
			}
			if want == nil {
				continue
			}
			judge := func(round func(float64) float64) string {
				y := ndarray.FromFloats(dtype.Must("f32"), c.Inputs[0].Shape, f.results(c, round))
				return oracle.Compare("y", y, want[0], oracle.ToleranceOf(c, 0))
			}
			if text := judge(func(v float64) float64 { return v }); text != "" {
				t.Errorf("%s in double, %s: %s", name, c.Name, text)
			}
			if text := judge(func(v float64) float64 { return float64(float32(v)) }); text != "" {
				found++
			}
		}
		if found == 0 {
			t.Errorf("%s: nothing shows that it is computed in floats", name)
		}
	}
}

// Where float64 has too few digits itself, or nobody knows, there is no verdict.
func TestDoubtfulReferences(t *testing.T) {
	python := fake.RealOracle(t, time.Minute)
	for _, test := range []struct {
		reference         string
		decided, readable bool
	}{
		{"return x + w", true, true},
		{"return ((1 + x * 1e-13) - 1) * 1e13 + w", false, true},
		{"return xp.full_like(x, xp.nan) * w", false, true},
		{"return xp.linalg.inv(xp.eye(len(w), dtype=x.dtype)) @ w + x", false, false},
		{"return xp.tanh(x).astype(xp.float64) + w", true, true},
	} {
		op := *fake.ToyOp(t, "affine")
		op.Reference = test.reference
		c, err := cases.New(&op, cases.Plan{Name: "doubtful", DTypes: cases.DTypes{"T": "f32"}, Batch: []int64{2}, Sizes: map[string]int64{"N": 5}})
		if err != nil {
			t.Fatal(err)
		}
		want, err := oracle.Certain(t.Context(), python, c)
		var none *oracle.ReferenceError
		if (want != nil) != test.decided || (err == nil) != test.readable || err != nil && !errors.As(err, &none) {
			t.Errorf("%s: %v, %v", test.reference, want != nil, err)
		}
	}
}
