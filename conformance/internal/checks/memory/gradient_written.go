package memory

import "github.com/opcast/opcast/conformance/internal/check"

var gradientWrittenCheck = check.Check{
	ID: "gradient-written", Group: check.GroupAliasing, Generated: true,
	Doc:     "a tensor that requires grad is overwritten only while gradients are off",
	Through: check.ThroughAdaptors,
	Needs:   hasMemoryProbe("gradient"),
	Foreign: check.Foreign{Library: check.AboutGenerated.Library, Functions: "its gradient is its author's, not that of the definition"},
	Run:     check.WithFewerDTypes(checkMemory("gradient")),
}
