package gradients

import (
	"fmt"

	"github.com/opcast/opcast/conformance/calls"
	"github.com/opcast/opcast/conformance/cases"
	"github.com/opcast/opcast/conformance/check"
	"github.com/opcast/opcast/conformance/checks/transforms"
)

var forwardModeCheck = check.Check{
	ID: "forward-mode", Group: check.GroupTransform,
	Doc:     "forward-mode derivatives raise NotImplementedError in every spelling",
	Through: check.ThroughAdaptors,
	Needs:   transforms.Transforms,
	Foreign: check.TransformsGenerated,
	Run:     checkForwardMode,
}

// checkForwardMode asks for tangents of the results.
func checkForwardMode(t *check.T) error {
	return t.EachOptionalPlan(func(c *cases.Case) error {
		if len(floatingInputs(c)) == 0 {
			return t.Inexpressible("no input of this call has a tangent: none is of floating point")
		}
		r, err := transforms.SendTransformation(t, c.Name, &calls.Transformation{
			Method: "forward mode", Call: calls.New(c), Calls: []calls.Arrays{{Inputs: calls.InputTensors(c)}}, Options: map[string]any{"wrt": floatingInputs(c)},
		})
		if err != nil {
			return err
		}
		var facts struct{ Spellings []string }
		if err := transforms.ReadFacts(r, &facts); err != nil {
			return err
		}
		texts := []string{fmt.Sprintf(noForwardMode, t.Op.Name)}
		if t.Op.Gradient == nil { // then it may say that there is no derivative at all
			texts = append(texts, fmt.Sprintf(noGradient, t.Op.Name))
		}
		for i, spelling := range facts.Spellings {
			transforms.ExpectNotImplemented(t, c.Name+", "+spelling, r, i, texts...)
		}
		return nil
	})
}
