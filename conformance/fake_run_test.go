package conformance

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/opcast/opcast/internal/ndarray"
)

// fakeOracle evaluates the toy ops as their references would.
type fakeOracle struct{}

func (fakeOracle) Reference(_ context.Context, c *Case, precision string) ([]Expected, error) {
	round := func(v float64) float64 { return v }
	if precision == "float32" {
		round = func(v float64) float64 { return float64(float32(v)) }
	}
	var out []Expected
	for i, values := range toyValues(c, round) {
		shape, err := c.Shape(slots(c.Op)[i].Type)
		if err != nil {
			return nil, err
		}
		out = append(out, Expected{Shape: shape, Values: values, Absent: values == nil})
	}
	return out, nil
}

// Differences is not asked for: the gradients of toys are judged by Python.
func (fakeOracle) Differences(context.Context, *Case, []*ndarray.Array, []int) ([]Slopes, error) {
	return nil, errors.New("no gradient")
}

// fakeChain hands arrays over; it copies or computes wrongly on request.
type fakeChain struct {
	fake         *fake
	copies       bool
	wrongResults bool
}

func (f *fakeChain) Frameworks() []string { return []string{"fake", "other"} }

func (f *fakeChain) Chain(_ context.Context, call *Call, link chainLink, _, _ string) (*Result, uint64, uint64, error) {
	second := call.clone()
	second.Inputs[link.feed] = &Tensor{Array: f.fake.answer(call).Outputs[0].Array}
	r := f.fake.answer(second)
	if f.wrongResults {
		nudge(r)
	}
	to := uint64(1 << 12)
	if f.copies {
		to++
	}
	return r, 1 << 12, to, nil
}

// fakeRun runs one check of affine through a caller beside a perfect backend.
func fakeRun(t *testing.T, id string, caller *fake, change func(*environment)) string {
	t.Helper()
	return fakeRunOf(t, "affine", id, caller, change)
}

// fakeRunOf runs one check of a toy op; its results come one per line.
func fakeRunOf(t *testing.T, op, id string, caller *fake, change func(*environment)) string {
	t.Helper()
	p := toy(t)
	s := &session{options: Options{Profile: profileExtended}, env: environment{
		project: p, device: "cpu", random: 60, oracle: fakeOracle{}, callers: []Caller{&fake{name: backendName}, caller},
		chain: &fakeChain{fake: caller}, debugging: func(context.Context, string) (Caller, error) {
			return &fake{name: caller.name, before: caller.before, after: caller.after, looks: true}, nil
		}, stale: func(context.Context) ([]string, error) { return nil, nil },
	}}
	if change != nil {
		change(&s.env)
	}
	for _, check := range checks() {
		if check.ID != id {
			continue
		}
		var status string
		for _, r := range s.run(t.Context(), toyOp(t, op), caller, "", &check) {
			status = fmt.Sprintf("%s%s: %s\n", status, r.Status, r.Reason)
		}
		return status
	}
	t.Fatalf("no check %q", id)
	return ""
}
