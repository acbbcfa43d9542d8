package transforms

import (
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
)

var inductorCheck = check.Check{
	ID: "inductor", Group: check.GroupTransform, Generated: true,
	Doc:     "Inductor's programs give the same bits",
	Through: check.ThroughAdaptors,
	Needs:   Offers("Inductor", Transforms),
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
