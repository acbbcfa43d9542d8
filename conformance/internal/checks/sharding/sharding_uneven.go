package sharding

import "github.com/opcast/opcast/conformance/internal/check"

var shardingUnevenCheck = onDevices("sharding-uneven", "sharding",
	"parts of different sizes are put together first: what pads the smaller ones is in no result and no sum", checkUneven)

// checkUneven divides along each dim that allows it, but by a number of devices that its size is no multiple of.
func checkUneven(t *check.T) error {
	return eachDividable(t, 3, func(s *sharding) error { return expectOneDeviceValues(t, s.C.Name, "uneven", s, false) })
}
