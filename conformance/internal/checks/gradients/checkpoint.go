package gradients

import (
	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/transformed"
)

// checkpointCheck counts the launches of the gradient only: the forward kernel runs again.
var checkpointCheck = transformed.Check("checkpoint", transformed.Differentiates,
	"computing the results again in the backward pass changes no bit",
	transformed.Each("checkpoint", "checkpoint", func(t *check.T, p *transformed.PreparedCall, r *calls.Transformed) {
		transformed.EachWay(t, p.C.Name, r, func(name string, made *calls.TransformedCall) {
			if transformed.Expect(t, name, made, p.Expected()) {
				transformed.ExpectLaunches(t, name, made, map[string]int64{t.Op.Gradient.Name: 1})
			}
		})
	}))

// checkpointSavedCheck counts all launches: a policy can only save what it sees.
var checkpointSavedCheck = transformed.Check("checkpoint-saved", transformed.Differentiates,
	"what a policy saves is not computed again in the backward pass",
	transformed.Each("checkpoint-saved", "saved", func(t *check.T, p *transformed.PreparedCall, r *calls.Transformed) {
		p.Expect(t, p.C.Name, r.In("eager", 0))
	}))
