package gradients

import (
	"fmt"

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
		p, err := transformed.Prepare(t, c, true, "checkpoint")
		if err != nil {
			return err
		}
		r, err := transformed.SendTransformation(t, c.Name, transformed.Request("checkpoint", nil, p))
		if err != nil {
			return err
		}
		for i := range 2 { // torch: both kinds; JAX: eager, and under jit
			name := fmt.Sprintf("%s, way %d", c.Name, i)
			if transformed.ExpectArrays(t, name, r, i, p.Expected()) {
				transformed.ExpectLaunches(t, name, r, i, map[string]int64{gradientOp(t.Op): 1})
			}
		}
		return nil
	})
}

var checkpointSavedCheck = transformed.Check("checkpoint-saved", transformed.Differentiates,
	"what a policy saves is not computed again in the backward pass", checkCheckpointSaved)

// checkCheckpointSaved counts launches: a policy can only save what it sees.
func checkCheckpointSaved(t *check.T) error {
	return t.EachOptionalPlan(func(c *cases.Case) error {
		p, err := transformed.Prepare(t, c, true, "checkpoint-saved")
		if err != nil {
			return err
		}
		r, err := transformed.SendTransformation(t, c.Name, transformed.Request("saved", nil, p))
		if err != nil {
			return err
		}
		if transformed.ExpectArrays(t, c.Name, r, 0, p.Expected()) {
			transformed.ExpectLaunches(t, c.Name, r, 0, p.Launches())
		}
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
