package gradients

import (
	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/transformed"
)

var functionalCallCheck = transformed.Check("functional-call", transformed.Offers("torch.func", transformed.Differentiates),
	"gradients through torch.func.functional_call are the same",
	transformed.Each("functional", "module", func(t *check.T, p *transformed.PreparedCall, r *calls.Transformed) {
		transformed.Expect(t, p.C.Name, r.In("", 0), p.Gradients)
	}))
