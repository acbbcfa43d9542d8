package run

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"testing"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/oracle"
	"github.com/opcast/opcast/conformance/internal/testkit/fake"
	"github.com/opcast/opcast/internal/language/ndarray"
)

// fakeOracle evaluates the toy ops as their references would.
type fakeOracle struct{}

func (fakeOracle) Reference(_ context.Context, c *cases.Case, precision string) ([]oracle.Expected, error) {
	round := func(v float64) float64 { return v }
	if precision == "float32" {
		round = func(v float64) float64 { return float64(float32(v)) }
	}
	var out []oracle.Expected
	whole := wrapped(c, precision)
	for i, values := range fake.ToyValues(c, round) {
		shape, err := c.Shape(cases.Slots(c.Op)[i].Type)
		if err != nil {
			return nil, err
		}
		out = append(out, oracle.Expected{Shape: shape, Values: values, Absent: values == nil})
		if whole != nil {
			out[i].Integers = whole[i]
		}
	}
	return out, nil
}

// wrapped are the integers of a toy, as NumPy has them: modulo the width of the dtype, unless they are to be exact.
func wrapped(c *cases.Case, precision string) [][]*big.Int {
	whole := fake.ToyIntegers(c)
	if whole == nil || precision == "exact" {
		return whole
	}
	for i, s := range cases.Slots(c.Op) {
		whole[i] = ndarray.FromInts(c.DType(s.Type), []int64{int64(len(whole[i]))}, whole[i]).Ints()
	}
	return whole
}

// Differences is not asked for: the gradients of toys are judged by Python.
func (fakeOracle) Differences(context.Context, *cases.Case, []*ndarray.Array, []int) ([]oracle.FiniteDifferences, error) {
	return nil, errors.New("no gradient")
}

// fakeChain hands arrays over; it copies or computes wrongly on request.
type fakeChain struct {
	fake         *fake.Framework
	copies       bool
	wrongResults bool
}

func (f *fakeChain) Frameworks() []string { return []string{"fake", "other"} }

func (f *fakeChain) Chain(_ context.Context, call *calls.Call, link calls.ChainLink, _, _ string) (*calls.Result, uint64, uint64, error) {
	second := call.Clone()
	second.Inputs[link.Feed] = &calls.Tensor{Array: f.fake.Answer(call).Outputs[0].Array}
	r := f.fake.Answer(second)
	if f.wrongResults {
		fake.Nudge(r)
	}
	to := uint64(1 << 12)
	if f.copies {
		to++
	}
	return r, 1 << 12, to, nil
}

// fakeRun runs one check of affine through a caller beside a perfect backend.
func fakeRun(t *testing.T, id string, caller *fake.Framework, change func(*check.Environment)) string {
	t.Helper()
	return fakeRunOf(t, "affine", id, caller, change)
}

// fakeRunOf runs one check of a toy op; its results come one per line.
func fakeRunOf(t *testing.T, op, id string, caller *fake.Framework, change func(*check.Environment)) string {
	t.Helper()
	p := fake.Toy(t)
	s := &Runner{profile: check.ProfileExtended, Env: &check.Environment{
		Project: p, Device: "cpu", RandomCallsPerOp: 60, Oracle: fakeOracle{}, Callers: []calls.Caller{&fake.Framework{CallerName: calls.BackendName}, caller},
		Chain: &fakeChain{fake: caller}, DebugCaller: func(context.Context, string) (calls.Caller, error) {
			return &fake.Framework{CallerName: caller.CallerName, Before: caller.Before, After: caller.After, ChecksContents: true}, nil
		}, StaleFiles: func(context.Context) ([]string, error) { return nil, nil },
	}}
	if change != nil {
		change(s.Env)
	}
	for _, check := range Checks() {
		if check.ID != id {
			continue
		}
		var status string
		for _, r := range s.run(t.Context(), fake.ToyOp(t, op), caller, &check) {
			status = fmt.Sprintf("%s%s: %s\n", status, r.Status, r.Reason)
		}
		return status
	}
	t.Fatalf("no check %q", id)
	return ""
}
