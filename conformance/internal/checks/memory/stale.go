package memory

import "github.com/opcast/opcast/conformance/internal/check"

var staleCheck = check.Check{
	ID: "stale", Group: check.GroupAliasing, Generated: true,
	Doc:     "a backward pass refuses saved tensors that were overwritten since",
	Through: check.ThroughAdaptors,
	Needs:   hasMemoryProbe("stale"),
	Foreign: check.Foreign{Library: check.AboutGenerated.Library, Functions: "its gradient is its author's, not that of the definition"},
	Run:     check.WithFewerDTypes(checkMemory("stale")),
}
