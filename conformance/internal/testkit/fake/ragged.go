package fake

import (
	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/expr"
	"github.com/opcast/opcast/internal/language/rule"
)

// ragged sums the rows of each sequence; round is applied to every intermediate result.
func ragged(c *cases.Case, x, scale, indptr []float64, round func(float64) float64) []float64 {
	n := int(c.Sizes["N"])
	y := make([]float64, int(c.Sizes["B"])*n)
	for i := range int(c.Sizes["B"]) {
		for row := int(indptr[i]); row < int(indptr[i+1]); row++ {
			for k := range n {
				y[i*n+k] = round(y[i*n+k] + round(x[row*n+k]*scale[row]))
			}
		}
	}
	return y
}

// raggedSizes are the sizes of a call of the ragged toy.
func raggedSizes(c *cases.Case) {
	c.Batch = nil
	c.Sizes["R"], c.Sizes["N"] = c.Inputs[0].Shape[0], c.Inputs[0].Shape[1]
	c.Sizes["B"] = c.Inputs[2].Shape[0] - 1
}

// variantError is the error of a kernel that is forced to take a call, or of the first one that takes it.
func variantError(call *calls.Call, bare bool) *rule.Error {
	if len(call.Op.Kernels) == 0 {
		return nil
	}
	c := CaseOf(call)
	for _, k := range cases.KernelsOn(call.Op, "cpu") {
		reason := "needs T to be float16"
		if cases.AcceptsDTypes(&opdef.Kernel{DTypes: k.DTypes}, c.DTypes) {
			reason = "needs "
			if k.When != nil {
				reason += k.When.Text
			}
		}
		switch fits := c.Acceptance(&k); {
		case call.Kernel != "" && call.Kernel != k.Name:
		case call.Kernel == k.Name && fits == expr.KnownFalse:
			text := call.Op.Name + ": no kernel takes this call on cpu: " + k.Name + ": " + reason
			return &rule.Error{Class: "NotImplementedError", Text: text}
		case fits == expr.KnownTrue && k.Scratch && bare:
			return scratchError(call, c)
		case fits == expr.KnownTrue:
			return nil
		}
	}
	return nil
}

func scratchError(call *calls.Call, c *cases.Case) *rule.Error {
	arrays, err := c.Scratch()
	for i, a := range arrays {
		if err == nil && (call.Scratch == nil || call.Scratch[i] == nil) {
			text := call.Op.Name + ": " + call.Op.Scratch[i].Name + ": expected a scratch array " + a.DType.Long + rule.List(a.Shape) + ", got None"
			return &rule.Error{Class: "ValueError", Text: text}
		}
	}
	return nil
}
