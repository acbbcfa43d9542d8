package oracle_test

import (
	"context"
	"math/cmplx"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/oracle"
	"github.com/opcast/opcast/conformance/internal/testkit/fake"
	"github.com/opcast/opcast/conformance/internal/testkit/loadtest"
	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/testkit/tooltest"
)

// complexCase is a call of an op that multiplies complex numbers and squares their absolute values, with a reference.
func complexCase(t *testing.T, reference string) *cases.Case {
	t.Helper()
	p := loadtest.Load(t, tooltest.Project(t, "turn", `doc = "Turn."
kind = 0
dtypes = { C = ["c64"] }
inputs = [{ name = "x", type = "C[N]", doc = "Numbers." }, { name = "w", type = "C[N]", doc = "Factors." }]
outputs = [{ name = "y", type = "C[N]", doc = "Products." }, { name = "p", type = "f32[N]", doc = "Squares." }]
reference = "`+reference+`"
`))
	c, err := cases.New(p.Ops[0], cases.Plan{Name: "complex", DTypes: cases.DTypes{"C": "c64"}, Sizes: map[string]int64{"N": 3}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// pairs are complex numbers, given by their parts.
func pairs(parts []float64) (out []complex128) {
	for i := 0; i < len(parts); i += 2 {
		out = append(out, complex(parts[i], parts[i+1]))
	}
	return out
}

// expectNear compares complex numbers that finite differences may be off.
func expectNear(t *testing.T, what string, got []float64, want func(i int) complex128) {
	t.Helper()
	for i, z := range pairs(got) {
		if cmplx.Abs(z-want(i)) > 1e-8 {
			t.Errorf("%s[%d]: got %v, want %v", what, i, z, want(i))
		}
	}
}

// The reference gets and gives complex numbers, and an independent formula too; derivatives are by both parts.
func TestComplexReference(t *testing.T) {
	python, ctx := fake.RealOracle(t, time.Minute), context.Background()
	c := complexCase(t, "return x * w, xp.abs(x) ** 2")
	x, w := pairs(c.Inputs[0].Floats()), pairs(c.Inputs[1].Floats())
	got, err := python.Reference(ctx, c, "float64")
	if err != nil || !got[0].Complex || got[1].Complex {
		t.Fatalf("got %v, %v", got, err)
	}
	expectNear(t, "y", got[0].Values, func(i int) complex128 { return x[i] * w[i] })

	weights := []*ndarray.Array{
		ndarray.FromFloats(dtype.Must("c128"), []int64{3}, []float64{1, 2, -1, 0.5, 0, 1}), ndarray.FromFloats(dtype.Must("f64"), []int64{3}, []float64{1, -2, 3}),
	}
	slopes, err := python.Differences(ctx, c, weights, []int{0, 1})
	if err != nil {
		t.Fatal(err)
	}
	by, squares := pairs(weights[0].Floats()), weights[1].Floats()
	expectNear(t, "grad_x", slopes[0].Values, func(i int) complex128 { return cmplx.Conj(w[i])*by[i] + complex(2*squares[i], 0)*x[i] })
	expectNear(t, "grad_w", slopes[1].Values, func(i int) complex128 { return cmplx.Conj(x[i]) * by[i] })

	c.Op.Module = "def independent(torch, x, w):\n    return (x.conj() * w.conj()).conj(), x.abs() ** 2\n"
	formula, _, err := python.Independent(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	expectNear(t, "independent", formula[0].Values, func(i int) complex128 { return x[i] * w[i] })

	c.Op.Module = "def samples(rng, sizes):\n    return {'x': [1j, 2, 3 - 1j], 'w': [1, 2, 3]}\n"
	plan := cases.Plan{DTypes: cases.DTypes{"C": "c64"}, Sizes: map[string]int64{"N": 3}, Sampler: python.Samplers(ctx, []*opdef.Op{c.Op})["turn"]}
	sampled, err := cases.New(c.Op, plan)
	if err != nil || !slices.Equal(sampled.Inputs[0].Floats(), []float64{0, 1, 2, 0, 3, -1}) || !slices.Equal(sampled.Inputs[1].Floats(), []float64{1, 0, 2, 0, 3, 0}) {
		t.Errorf("samples: %v, %v", sampled, err)
	}

	_, err = python.Reference(ctx, complexCase(t, "return x * w, x * xp.conj(x)"), "float64")
	if err == nil || !strings.Contains(err.Error(), "result 1: expected real numbers, got complex128") {
		t.Errorf("got %v", err)
	}
	real, err := python.Reference(ctx, complexCase(t, "return xp.abs(x), xp.abs(w)"), "float64")
	if err != nil || real[0].Values[1] != 0 || oracle.Compare("y", real[0].Rounded(dtype.Must("c64")), real[0], oracle.Tolerance{ULPs: 1}) != "" {
		t.Errorf("got %v, %v", real, err)
	}
}
