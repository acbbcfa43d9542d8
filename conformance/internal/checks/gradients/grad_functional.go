package gradients

import (
	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/transformed"
)

var gradFunctionalCheck = transformed.Check("grad-functional", transformed.Offers("torch.func", transformed.Differentiates),
	"torch.func.vjp gives the same gradients",
	transformed.Each("grad", "vjp", func(t *check.T, p *transformed.PreparedCall, r *calls.Transformed) {
		p.Expect(t, p.C.Name, r.In("", 0))
	}))
