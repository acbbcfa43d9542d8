package transforms

import (
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/transformed"
)

var inductorCheck = transformed.Check("inductor", transformed.Offers("Inductor", transformed.Transforms),
	"Inductor's programs give the same bits", checkInductor)

func checkInductor(t *check.T) error {
	d, err := t.FirstDTypes()
	if err != nil {
		return err
	}
	return compiledTwice(t, cases.BasePlan(d), true, "inductor")
}
