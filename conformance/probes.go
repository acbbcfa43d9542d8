package conformance

import (
	"maps"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/transform"
)

// Groups of probes: calls that only some frameworks know. Go names them by what they are about; what they do is written in
// the worker's <framework>_<group>.py.
const (
	// groupSpecial: arrays that frameworks have beside plain ones. They give the result of the plain call or an error of
	// ours.
	groupSpecial = "special"
	// groupMemory: what frameworks promise about memory that is written. They give the result of the plain call and notes,
	// each of which must be true; those that are marked as refused give an error of ours.
	groupMemory = "aliasing"
	// groupMalformed: calls that no one should write. They may give anything, but the process stays alive.
	groupMalformed = "malformed"
)

// probesAbout are the probes of a group that are about something: "donation_used" is about donation.
func probesAbout(caller Caller, group, about string) []Probe {
	return slices.DeleteFunc(slices.Clone(caller.Probes(group)), func(p Probe) bool {
		return !strings.HasPrefix(p.Name, about+"_")
	})
}

// offersProbe reports whether a caller has a probe.
func offersProbe(caller Caller, group, name string) bool {
	return slices.ContainsFunc(caller.Probes(group), func(p Probe) bool { return p.Name == name })
}

// checkMemory runs the probes of memory that are about something.
func checkMemory(about string) func(t *T) error {
	return func(t *T) error {
		return t.eachCase(func(d dtypes) []plan { return []plan{base(d)} }, func(c *Case) error {
			plain, err := t.baseline(t.Caller, c)
			if err != nil {
				return err
			}
			return forEach(probesAbout(t.Caller, groupMemory, about), func(probe Probe) error {
				if t.env.foreign.callables() && probe.Out {
					return nil // a function of someone else need not have out=
				}
				return t.promised(c, plain, groupMemory, probe)
			})
		})
	}
}

// promised runs one probe of a group whose results are those of the plain call and whose notes are all true.
func (t *T) promised(c *Case, plain *Result, group string, probe Probe) error {
	call, err := t.call(t.Caller, c)
	if err != nil {
		return err
	}
	call.Probe, call.Options = group+"."+probe.Name, map[string]any{"keeps": keeps(t.Op)}
	name := probe.Name + ", " + c.Name
	result, err := t.Call(call, name)
	if err != nil {
		return err
	}
	if probe.Refused {
		if result.Error == nil || !t.refused(result.Error) {
			t.Fail(call, name, "want an error of ours, got %+v", result.Error)
		}
		return nil
	}
	if result = t.succeeded(call, name, result); result == nil {
		return nil
	}
	t.identical(call, name, result, plain)
	for _, note := range slices.Sorted(maps.Keys(result.Notes)) {
		if result.Notes[note] != true {
			t.Fail(call, name, "%s: got %v, want true", note, result.Notes[note])
		}
	}
	return nil
}

// keeps reports whether the gradient of an op needs inputs or outputs of the forward call.
func keeps(op *opdef.Op) bool {
	link := transform.GradientOf(op)
	return link != nil && slices.ContainsFunc(link.Operands, func(o transform.Operand) bool { return o.From != transform.FromGrad })
}

// about holds where the framework has probes of memory about something.
func about(what string) func(*opdef.Op, Caller) error {
	return func(_ *opdef.Op, caller Caller) error {
		if len(probesAbout(caller, groupMemory, what)) == 0 {
			return unsupported("the framework has no probe about this")
		}
		return nil
	}
}

// checkMalformed makes calls that no one should write. Whatever they raise, the process stays alive and still computes.
func checkMalformed(t *T) error {
	c, err := t.wrongCase()
	if err != nil {
		return err
	}
	for _, probe := range t.Caller.Probes(groupMalformed) {
		call, err := t.call(t.Caller, c)
		if err != nil {
			return err
		}
		call.Probe, call.Options = groupMalformed+"."+probe.Name, map[string]any{"checked strides": checksStrides(t.Op)}
		if _, err := t.Call(call, probe.Name); proceed(err) != nil {
			return err
		}
		if err := proceed(t.valueOf(c)); err != nil {
			return err
		}
	}
	return nil
}

// checksStrides reports whether the backend refuses some strides of every input.
func checksStrides(op *opdef.Op) bool {
	return !slices.ContainsFunc(op.Inputs, func(a opdef.Arg) bool { return a.Stride == "any" })
}

func hasMalformed(_ *opdef.Op, caller Caller) error {
	if len(caller.Probes(groupMalformed)) == 0 {
		return unsupported("the framework has no probe about this")
	}
	return nil
}
