package sharding

import (
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/transformed"
)

var shardingExplicitCheck = check.Check{
	ID: "sharding-explicit", Group: check.GroupTransform, Generated: true,
	Doc:      "what sharding says also holds with explicit axes",
	Through:  check.ThroughAdaptors,
	HostOnly: "needs several devices, which are simulated on the host",
	Needs:    transformed.Offers("sharding", transformed.Transforms),
	Foreign:  check.TransformsGenerated,
	Run:      checkSharding(true),
}
