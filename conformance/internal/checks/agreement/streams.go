package agreement

import (
	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/internal/language/opdef"
)

// groupStreams is the group of checks, and of probes, of when a call runs on a device.
const (
	groupStreams      = "Streams"
	GroupStreamProbes = "streams"
)

// hasStreamProbe holds where a framework has probes of streams, which it only has on a device.
func hasStreamProbe(about string) func(*opdef.Op, calls.Caller) error {
	return func(_ *opdef.Op, caller calls.Caller) error {
		switch {
		case len(caller.Probes(GroupStreamProbes)) == 0:
			return check.Unsupported("the host has no streams: opcast test --device cuda")
		case len(check.ProbesFor(caller, GroupStreamProbes, about)) == 0:
			return check.Unsupported("the framework has no probe about this")
		}
		return nil
	}
}

// checkStreams runs the probes of streams that are about something. Their arguments get their contents late.
func checkStreams(about string) func(t *check.T) error {
	return func(t *check.T) error {
		return t.EachCase(cases.BaseOnly, func(c *cases.Case) error {
			plain, err := t.RunBaseline(t.Caller, c)
			if err != nil {
				return err
			}
			return check.ForEach(check.ProbesFor(t.Caller, GroupStreamProbes, about), func(probe calls.Probe) error {
				return t.RunProbe(c, plain, GroupStreamProbes, probe)
			})
		})
	}
}
