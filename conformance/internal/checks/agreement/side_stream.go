package agreement

import "github.com/opcast/opcast/conformance/internal/check"

var sideStreamCheck = check.Check{
	ID: "side-stream", Group: groupStreams,
	Doc:     "a call on a side stream runs behind the producer of its arguments, without a wait",
	Through: check.ThroughAdaptors,
	Needs:   hasStreamProbe("side"),
	Foreign: check.AboutGenerated,
	Run:     check.WithFewerDTypes(checkStreams("side")),
}
