package conformance

import (
	"github.com/opcast/opcast/internal/opdef"
)

// groupStreams is the group of checks, and of probes, of when a call runs on a device.
const (
	groupStreams      = "Streams"
	groupStreamProbes = "streams"
)

// streamed holds where a framework has probes of streams, which it only has on a device.
func streamed(about string) func(*opdef.Op, Caller) error {
	return func(_ *opdef.Op, caller Caller) error {
		switch {
		case len(caller.Probes(groupStreamProbes)) == 0:
			return unsupported("the host has no streams: opcast test --device cuda")
		case len(probesAbout(caller, groupStreamProbes, about)) == 0:
			return unsupported("the framework has no probe about this")
		}
		return nil
	}
}

// checkStreams runs the probes of streams that are about something. Their arguments get their contents late.
func checkStreams(about string) func(t *T) error {
	return func(t *T) error {
		return t.eachCase(func(d dtypes) []plan { return []plan{base(d)} }, func(c *Case) error {
			plain, err := t.baseline(t.Caller, c)
			if err != nil {
				return err
			}
			return forEach(probesAbout(t.Caller, groupStreamProbes, about), func(probe Probe) error {
				return t.promised(c, plain, groupStreamProbes, probe)
			})
		})
	}
}
