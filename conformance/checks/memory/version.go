package memory

import (
	"github.com/opcast/opcast/conformance/check"
)

var versionCheck = check.Check{
	ID: "version", Group: check.GroupAliasing,
	Doc:     "autograd learns what was written",
	Through: check.ThroughAdaptors,
	Needs:   hasMemoryProbe("version"),
	Run:     check.WithFewerDTypes(checkMemory("version")),
}
