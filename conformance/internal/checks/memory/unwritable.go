package memory

import "github.com/opcast/opcast/conformance/internal/check"

var unwritableCheck = check.Check{
	ID: "unwritable", Group: check.GroupAliasing, Generated: true,
	Doc:     "memory that no kernel can write is refused with the error that says so",
	Through: check.ThroughAdaptors,
	Needs:   hasMemoryProbe("written"),
	Foreign: check.AboutGenerated,
	Run:     check.WithFewerDTypes(checkMemory("written")),
}
