package sharding

import (
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/transformed"
)

// expectOneDeviceValues calls in a way that divides arrays, and expects what one device gives.
func expectOneDeviceValues(t *check.T, name, way string, s *sharding, explicit bool) error {
	r, err := transformed.Send(t, name, transformed.Request(way, s.options(explicit), s.PreparedCall), nil)
	if err != nil {
		return err
	}
	expectShardedValues(t, name, r.In("", 0), s)
	return nil
}

// eachDividable runs a body for each dim that allows it, divided by a number of devices.
func eachDividable(t *check.T, devices int64, body func(s *sharding) error) error {
	d, err := t.FirstDTypes()
	if err != nil {
		return err
	}
	dims := dividable(t.Op)
	if len(dims) == 0 {
		return check.Skip("no dim can be divided")
	}
	for _, dim := range dims {
		s, err := newSharding(t, d, map[string]string{dim: "i"}, []int64{devices}, nil, true)
		if err != nil {
			return err
		}
		if err := check.Proceed(body(s)); err != nil {
			return err
		}
	}
	return nil
}
