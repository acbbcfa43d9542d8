package run

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/testkit/fake"
	"github.com/opcast/opcast/internal/language/ndarray"
)

// squaresInRange computes the toy norm again, but for squares beyond the range of floats.
func squaresInRange(call *calls.Call, r *calls.Result) {
	if r.Error != nil {
		return
	}
	c := fake.CaseOf(call)
	eps, _ := cases.ToFloat(c.Attr("eps"))
	x, w, shift := c.Inputs[0].Floats(), c.Inputs[1].Floats(), make([]float64, c.Inputs[1].Len())
	if c.Inputs[2] != nil {
		shift = c.Inputs[2].Floats()
	}
	var y []float64
	for ; len(x) > 0; x = x[len(w):] {
		sum := 0.0
		for _, v := range x[:len(w)] {
			sum += v * v
		}
		if sum > math.MaxFloat32 {
			sum = math.Inf(1)
		}
		for i, v := range x[:len(w)] {
			y = append(y, v/math.Sqrt(sum+eps)*w[i]+shift[i])
		}
	}
	r.Outputs[0].Array = ndarray.FromFloats(r.Outputs[0].DType, r.Outputs[0].Shape, y)
}

// A kernel whose squares leave the range of floats is found, though usual numbers do not show it.
func TestPlantedFloatsAreFound(t *testing.T) {
	for _, test := range []struct {
		check string
		found bool
	}{{"value", false}, {"magnitudes", false}, {"hard-floats", true}} {
		status := fakeRunOf(t, "norm", test.check, &fake.Framework{CallerName: "fake", After: squaresInRange}, nil)
		if strings.Contains(status, "fail: ") != test.found || !strings.Contains(status, "pass") && !test.found {
			t.Errorf("%s: %s", test.check, status)
		}
	}
}

// What a result may be off is made for random numbers where it is a sum of products: such ops are left alone, and so are those
// without floats.
func TestHardFloatsLeaveSumsAlone(t *testing.T) {
	for op, status := range map[string]string{"ragged": "unsupported", "counts": "skip", "affine": "pass"} {
		if got := fakeRunOf(t, op, "hard-floats", &fake.Framework{CallerName: calls.BackendName}, nil); !strings.HasPrefix(got, status) {
			t.Errorf("%s: %s", op, got)
		}
	}
}

// A kernel that is slow with more rows gets no more of them than there is time for. This one is slow once, with four.
func TestHardFloatsTakeTheirTime(t *testing.T) {
	slept := false
	slow := func(call *calls.Call, _ *calls.Result) {
		if fake.CaseOf(call).Elements() > 4*1031 && !slept {
			slept = true
			time.Sleep(500 * time.Millisecond)
		}
	}
	status := fakeRunOf(t, "norm", "hard-floats", &fake.Framework{CallerName: "fake", After: slow}, nil)
	if !strings.HasPrefix(status, "pass: left out as too slow: hard sum, * = [8], N = 1031") {
		t.Error(status)
	}
}
