package batching

import (
	"fmt"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/transformed"
)

var vmapOfGradCheck = transformed.Check("vmap-of-grad", transformed.Differentiates,
	"mapped gradients are the gradients of the slices, compiled or not", checkMapOfGrad)

// checkMapOfGrad maps the gradient: every slice has gradients of its own, of inputs that are not mapped, too.
func checkMapOfGrad(t *check.T) error {
	return everyMap(t, func(x *composed) error {
		want := x.m.stacked(x.gradients, x.gradients[0])
		for _, compile := range x.compositions() {
			name := fmt.Sprintf("%s, compiled: %v", x.m.describe(), compile)
			r, err := transformed.Send(t, name, &calls.Transformation{
				Method: "per example", Call: calls.New(x.m.base), Calls: []calls.Arrays{x.arguments}, Options: x.options(compile),
			}, nil)
			if err != nil {
				return err
			}
			transformed.ExpectParts(t, name, r.In("", 0), want)
		}
		return nil
	})
}
