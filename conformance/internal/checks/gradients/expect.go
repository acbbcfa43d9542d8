package gradients

import (
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/transformed"
)

// gradients sends a prepared call and expects results, gradients and one launch of each.
func gradients(t *check.T, name string, options map[string]any, p *transformed.PreparedCall) error {
	r, err := transformed.Send(t, name, transformed.Request("grad", options, p), nil)
	if err != nil {
		return err
	}
	p.Expect(t, name, r.In("", 0))
	return nil
}

// Beginnings of the texts with which derivatives are refused.
const (
	noGradient    = "%s: no gradient is defined: "
	noForwardMode = "%s: no forward-mode derivative is defined: use reverse mode"
)

// floatingInputs are the places, among the given inputs, of those of floating point.
func floatingInputs(c *cases.Case) []int {
	out := []int{}
	for place, i := range cases.GivenInputs(c) {
		if c.Inputs[i].DType.Inexact() {
			out = append(out, place)
		}
	}
	return out
}
