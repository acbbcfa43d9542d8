package agreement

import "github.com/opcast/opcast/conformance/internal/check"

var graphCheck = check.Check{
	ID: "graph", Group: groupStreams,
	Doc:     "a captured call computes with the contents of its arguments when it is replayed",
	Through: check.ThroughAdaptors,
	Needs:   hasStreamProbe("graph"),
	Foreign: check.AboutGenerated,
	Run:     check.WithFewerDTypes(checkStreams("graph")),
}
