package run

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/testkit/fake"
	"github.com/opcast/opcast/internal/language/opdef"
)

// given says at which places a call gets an array that an earlier call gave.
type given struct{ results [][]byte }

func (g *given) places(call *calls.Call, r *calls.Result) (at []int) {
	for i, v := range call.Inputs {
		x, ok := v.(*calls.Tensor)
		for _, earlier := range g.results {
			if ok && bytes.Equal(x.Bytes(), earlier) {
				at = append(at, i)
			}
		}
	}
	for _, o := range r.Existing() {
		g.results = append(g.results, bytes.Clone(o.Data))
	}
	return at
}

// The log-sum-exps of an op go into the inputs of their convention, and a wrong result of such a call is found.
func TestLSEChain(t *testing.T) {
	for name, wrong := range map[string]bool{"right": false, "wrong where a log-sum-exp was given": true} {
		t.Run(name, func(t *testing.T) {
			g, fed := &given{}, map[int]int{}
			told := fakeRunOf(t, "join", "lse-chain", &fake.Framework{CallerName: "fake", After: func(call *calls.Call, r *calls.Result) {
				places := g.places(call, r)
				for _, i := range places {
					fed[i]++
				}
				if wrong && len(places) > 0 {
					fake.Nudge(r)
				}
			}}, nil)
			if strings.Contains(told, "fail: ") != wrong || !wrong && !strings.Contains(told, "pass: ") {
				t.Error(told)
			}
			if fed[0] == 0 || fed[1] == 0 || fed[2] > 0 {
				t.Errorf("inputs got log-sum-exps %v times, want some for the first two, whose convention it is, and none for the third", fed)
			}
		})
	}
}

// An op whose inputs nothing of the collection fits says so.
func TestLSEChainWithoutLinks(t *testing.T) {
	for name, c := range map[string]struct {
		change func(op *opdef.Op)
		want   string
	}{
		"another convention": {func(op *opdef.Op) { op.Outputs[0].LSE = &opdef.LSE{Base: "2", Empty: "inf"} }, "skip: no op of the collection gives"},
		"another dtype":      {func(op *opdef.Op) { op.Outputs[0].Type.Var, op.Outputs[0].Type.DType = "", "f64" }, "skip: no log-sum-exp of the collection can have the dtype and shape"},
	} {
		t.Run(name, func(t *testing.T) {
			told := fakeRunOf(t, "join", "lse-chain", &fake.Framework{CallerName: "fake"}, func(e *check.Environment) {
				op := *fake.ToyOp(t, "join") // all tests have the same toys
				op.Outputs = slices.Clone(op.Outputs)
				c.change(&op)
				e.Project = &opdef.Project{Ops: []*opdef.Op{&op}}
			})
			if !strings.Contains(told, c.want) {
				t.Errorf("got %s, want %s", told, c.want)
			}
		})
	}
}
