package agreement

import (
	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/internal/language/opdef"
)

// GroupStreamProbes is the group of probes of when a call runs on a device. Their arguments get their contents late.
const GroupStreamProbes = "streams"

var sideStreamCheck = onStreams("side-stream", "side",
	"a call on a side stream runs behind the producer of its arguments, without a wait")

var twoStreamsCheck = onStreams("two-streams", "two", "calls on two streams do not disturb each other")

var graphCheck = onStreams("graph", "graph",
	"a captured call computes with the contents of its arguments when it is replayed")

// onStreams is a check that runs the worker's probes about something. A framework has them only on a device.
func onStreams(id, about, doc string) check.Check {
	return check.Check{
		ID: id, Group: "Streams", Doc: doc, Through: check.ThroughAdaptors, Foreign: check.AboutGenerated,
		Run: check.RunProbes(GroupStreamProbes, about),
		Needs: func(op *opdef.Op, caller calls.Caller) error {
			if len(caller.Probes(GroupStreamProbes)) == 0 {
				return check.Unsupported("the host has no streams: opcast test --device cuda")
			}
			return check.HasProbes(GroupStreamProbes, about)(op, caller)
		},
	}
}
