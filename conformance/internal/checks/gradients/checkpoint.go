package gradients

import (
	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/transformed"
	"github.com/opcast/opcast/internal/language/opdef"
)

var checkpointCheck = transformed.Check("checkpoint", transformed.Differentiates,
	"computing the results again in the backward pass changes no bit", checkCheckpoint)

// checkCheckpoint counts launches, too: the forward kernel runs again.
func checkCheckpoint(t *check.T) error {
	return t.EachOptionalPlan(func(c *cases.Case) error {
		p, r, err := transformed.Ask(t, c, "checkpoint", "checkpoint", nil)
		if err != nil {
			return err
		}
		transformed.EachWay(t, c.Name, r, func(name string, made *calls.TransformedCall) {
			if transformed.Expect(t, name, made, p.Expected()) {
				transformed.ExpectLaunches(t, name, made, map[string]int64{gradientOp(t.Op): 1})
			}
		})
		return nil
	})
}

var checkpointSavedCheck = transformed.Check("checkpoint-saved", transformed.Differentiates,
	"what a policy saves is not computed again in the backward pass", checkCheckpointSaved)

// checkCheckpointSaved counts launches: a policy can only save what it sees.
func checkCheckpointSaved(t *check.T) error {
	return t.EachOptionalPlan(func(c *cases.Case) error {
		p, r, err := transformed.Ask(t, c, "checkpoint-saved", "saved", nil)
		if err != nil {
			return err
		}
		p.Expect(t, c.Name, r.In("eager", 0))
		return nil
	})
}

// gradientOp is the name under which launches of the gradient are counted.
func gradientOp(op *opdef.Op) string {
	if op.Gradient == nil {
		return ""
	}
	return op.Gradient.Name
}
