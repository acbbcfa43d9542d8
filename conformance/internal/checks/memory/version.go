package memory

import "github.com/opcast/opcast/conformance/internal/check"

var versionCheck = check.Check{
	ID: "version", Group: check.GroupAliasing,
	Doc:     "every write raises the version counter that autograd checks",
	Through: check.ThroughAdaptors,
	Needs:   hasMemoryProbe("version"),
	Foreign: check.Judges,
	Run:     check.WithFewerDTypes(checkMemory("version")),
}
