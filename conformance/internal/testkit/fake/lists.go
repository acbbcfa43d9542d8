package fake

import (
	"fmt"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/rule"
)

// gather gives the scaled arrays, their rows one after the other, how many there are of each, and the new totals.
func gather(c *cases.Case, in [][]float64, round func(float64) float64) [][]float64 {
	length := (len(in) - 1) / 2 // of both lists, before the weights
	w := in[2*length]
	var scaled, totals [][]float64
	rows, sizes := []float64{}, []float64{}
	for i := range length {
		y, total := make([]float64, len(in[i])), make([]float64, len(in[i]))
		for k, v := range in[i] {
			y[k] = round(v * w[k%len(w)])
			total[k] = round(in[length+i][k] + y[k])
		}
		scaled, totals = append(scaled, y), append(totals, total)
		rows, sizes = append(rows, y...), append(sizes, float64(c.Inputs[i].Shape[0]))
	}
	return append(append(scaled, rows, sizes), totals...)
}

// listSizes are the sizes of a call of an op of lists.
func listSizes(c *cases.Case) {
	c.Batch = nil
	for i, in := range c.Op.Inputs {
		if in.In == c.Op.Inputs[0].In {
			c.Sizes[opdef.ElementName("n", in.At)] = c.Inputs[i].Shape[0]
		}
	}
}

// listError is the error of lists that are none, empty, or not as long as they have to be.
func (f *Framework) listError(call *calls.Call) *rule.Error {
	if call.Lists == nil {
		return nil
	}
	whole, lengths := call.Op.Whole(), map[any]any{}
	for _, g := range call.Lists.Inputs {
		lengths[g[0]] = g[1]
	}
	for _, list := range whole.Lists() {
		begins := whole.Name + ": " + list + ": expected "
		switch first := whole.Partner(list); {
		case lengths[list] == calls.Single:
			return &rule.Error{Class: "TypeError", Text: begins + "a list of " + f.ArrayWord() + ", got " + f.ArrayWord()}
		case lengths[list] == 0:
			return &rule.Error{Class: "ValueError", Text: begins + "at least 1 array, got 0"}
		case lengths[list] != lengths[first]:
			return &rule.Error{Class: "ValueError", Text: begins + fmt.Sprintf("%d arrays (as %s), got %d", lengths[first], first, lengths[list])}
		}
	}
	return nil
}
