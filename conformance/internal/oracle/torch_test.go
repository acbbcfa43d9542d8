package oracle_test

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/testkit/fake"
	"github.com/opcast/opcast/conformance/internal/testkit/loadtest"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/testkit/tooltest"
)

// torchText is a reference in PyTorch that asks for less than float64 wherever it can.
const torchText = `import torch as library


def reference(torch, x, scales, exponents):
    third = x.to(torch.float32) / 3
    assert third.dtype is x.half().dtype is torch.get_default_dtype()
    assert scales.dtype is torch.float8_e4m3fn and scales.view(torch.uint8).dtype is torch.uint8
    kept = library.zeros(len(x), dtype=torch.bfloat16)
    kept[:] = third * scales.float()
    powers = (exponents.to(torch.int32) << 23).view(torch.float32)
    rounded = (x.float() * 100).to(torch.float8_e4m3fn)
    return kept, powers, rounded.float(), torch.randn(len(x)).bfloat16()
`

// A reference in PyTorch gets float64 wherever it asks for 16 or 32 bits. What it rounds to 8 bits is rounded, and its random numbers are
// always the same.
func TestTorchReference(t *testing.T) {
	python, ctx := fake.RealOracle(t, 10*time.Minute), context.Background()
	p := loadtest.Load(t, tooltest.Project(t, "third", `doc = "Divide by three."
kind = 0
inputs = [
  { name = "x", type = "bf16[N]", doc = "Numbers." },
  { name = "scales", type = "f8e4m3fn[N]", doc = "Factors." },
  { name = "exponents", type = "u8[N]", min = 100, max = 150, doc = "Exponents." },
]
outputs = [
  { name = "thirds", type = "bf16[N]", doc = "Thirds." },
  { name = "powers", type = "f32[N]", doc = "Powers of two." },
  { name = "rounded", type = "f32[N]", doc = "Hundredfold." },
  { name = "noise", type = "f32[N]", doc = "Noise." },
]
reference = "return x"
`))
	op := p.Ops[0]
	op.Reference, op.ReferenceModule = "", torchText
	c, err := cases.New(op, cases.Plan{Name: "torch", Sizes: map[string]int64{"N": 5}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := python.Reference(ctx, c, "float64")
	if err != nil {
		t.Fatal(err)
	}
	again, err := python.Reference(ctx, c, "longdouble")
	if err != nil {
		t.Fatal(err)
	}
	x, scales, exponents := c.Inputs[0].Floats(), c.Inputs[1].Floats(), c.Inputs[2].Floats()
	for i := range x {
		rounded := ndarray.FromFloats(c.Inputs[1].DType, []int64{1}, []float64{100 * x[i]}).Floats()[0]
		for j, want := range []float64{x[i] / 3 * scales[i], math.Exp2(exponents[i] - 127), rounded, again[3].Values[i]} {
			if v := got[j].Values[i]; v != want {
				t.Errorf("result %d of x = %v: got %v, want %v", j, x[i], v, want)
			}
		}
	}
	narrow, err := python.Reference(ctx, c, "float32")
	if err != nil {
		t.Fatal(err)
	}
	const last = 4 // a third that float32 lacks
	if got[3].Values[0] == 0 || narrow[0].Values[last] == got[0].Values[last] || float64(float32(narrow[0].Values[last])) != narrow[0].Values[last] {
		t.Errorf("in float32: got %v, in float64 %v", narrow[0].Values, got[0].Values)
	}
}
