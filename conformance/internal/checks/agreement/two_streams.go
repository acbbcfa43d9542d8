package agreement

import "github.com/opcast/opcast/conformance/internal/check"

var twoStreamsCheck = check.Check{
	ID: "two-streams", Group: groupStreams,
	Doc:     "calls on two streams do not disturb each other",
	Through: check.ThroughAdaptors,
	Needs:   hasStreamProbe("two"),
	Foreign: check.AboutGenerated,
	Run:     check.WithFewerDTypes(checkStreams("two")),
}
