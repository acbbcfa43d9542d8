package memory

import "github.com/opcast/opcast/conformance/internal/check"

var donationCheck = check.Check{
	ID: "donation", Group: check.GroupAliasing, Generated: true,
	Doc:     "results lie in donated memory, and in no other",
	Through: check.ThroughAdaptors,
	Needs:   hasMemoryProbe("donation"),
	Foreign: check.Judges,
	Run:     check.WithFewerDTypes(checkMemory("donation")),
}
