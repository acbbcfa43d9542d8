package sharding

import "github.com/opcast/opcast/conformance/internal/check"

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
