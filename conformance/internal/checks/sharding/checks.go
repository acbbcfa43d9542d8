// Package sharding has the checks of arrays that are divided over several devices, which are simulated on the host.
package sharding

import (
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/transformed"
)

// Checks are about arrays that are divided over several devices.
func Checks() []check.Check {
	return []check.Check{
		shardingCheck,
		shardingExplicitCheck,
		sharding2dCheck,
		shardingGatheredCheck,
		shardingUnevenCheck,
		shardMapCheck,
		dtensorCheck,
	}
}

// onDevices is a check that spreads an op over devices, as a feature of the framework does.
func onDevices(id, feature, doc string, run func(*check.T) error) check.Check {
	c := transformed.Check(id, transformed.Offers(feature, transformed.Transforms), doc, run)
	c.HostOnly = "needs several devices, which are simulated on the host"
	return c
}
