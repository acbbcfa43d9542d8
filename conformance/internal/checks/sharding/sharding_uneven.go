package sharding

import (
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/transformed"
)

var shardingUnevenCheck = check.Check{
	ID: "sharding-uneven", Group: check.GroupTransform, Generated: true,
	Doc:      "parts of different sizes are put together first: what pads the smaller ones is in no result and no sum",
	Through:  check.ThroughAdaptors,
	HostOnly: "needs several devices, which are simulated on the host",
	Needs:    transformed.Offers("sharding", transformed.Transforms),
	Foreign:  check.TransformsGenerated,
	Run:      checkUneven,
}

// checkUneven divides along each dim that allows it, but by a number of devices that its size is no multiple of.
func checkUneven(t *check.T) error {
	return eachDividable(t, 3, func(s *sharding) error { return expectOneDeviceValues(t, s.C.Name, "uneven", s, false) })
}
