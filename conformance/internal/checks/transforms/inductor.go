package transforms

import (
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/transformed"
)

var inductorCheck = check.Check{
	ID: "inductor", Group: check.GroupTransform, Generated: true,
	Doc:     "Inductor's programs give the same bits",
	Through: check.ThroughAdaptors,
	Needs:   transformed.Offers("Inductor", transformed.Transforms),
	Foreign: check.TransformsGenerated,
	Run:     checkInductor,
}

func checkInductor(t *check.T) error {
	d, err := t.FirstDTypes()
	if err != nil {
		return err
	}
	return compiledTwice(t, cases.BasePlan(d), true, "inductor")
}
