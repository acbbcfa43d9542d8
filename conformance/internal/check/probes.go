package check

import (
	"maps"
	"slices"
	"strings"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/transform"
)

// Groups of probes: calls that only some frameworks know. Go names them by what they are about; what they do is written in
// the worker's <framework>_<group>.py.
const (
	// GroupSpecial: arrays that frameworks have beside plain ones. They give the result of the plain call or a
	// documented error.
	GroupSpecial = "special"
	// GroupMemory: what frameworks promise about memory that is written. They give the result of the plain call and notes,
	// each of which must be true; those that are marked as refused give a documented error.
	GroupMemory = "aliasing"
	// GroupMalformed: calls that no one should write. They may give anything, but the process stays alive.
	GroupMalformed = "malformed"
)

// ProbesFor are the probes of a group that are about something: "donation_used" is about donation.
func ProbesFor(caller calls.Caller, group, about string) []calls.Probe {
	return slices.DeleteFunc(slices.Clone(caller.Probes(group)), func(p calls.Probe) bool {
		return !strings.HasPrefix(p.Name, about+"_")
	})
}

// HasProbes holds where a framework has probes of a group about something.
func HasProbes(group, about string) func(*opdef.Op, calls.Caller) error {
	return func(_ *opdef.Op, caller calls.Caller) error {
		if len(ProbesFor(caller, group, about)) == 0 {
			return Unsupported("the framework has no probe about this")
		}
		return nil
	}
}

// RunProbes runs the probes of a group that are about something.
func RunProbes(group, about string) func(*T) error {
	return WithFewerDTypes(func(t *T) error {
		return t.EachCase(cases.BaseOnly, func(c *cases.Case) error {
			plain, err := t.RunBaseline(t.Caller, c)
			if err != nil {
				return err
			}
			return ForEach(ProbesFor(t.Caller, group, about), func(probe calls.Probe) error {
				if probe.Out && (t.Env.Foreign.Callables() || t.Op.InstanceOf != nil) {
					return nil // a function of someone else need not have out=, one with lists has none
				}
				return t.RunProbe(c, plain, group, probe)
			})
		})
	})
}

// OffersProbe reports whether a caller has a probe.
func OffersProbe(caller calls.Caller, group, name string) bool {
	return slices.ContainsFunc(caller.Probes(group), func(p calls.Probe) bool { return p.Name == name })
}

// RunProbe runs one probe of a group whose results are those of the plain call and whose notes are all true.
func (t *T) RunProbe(c *cases.Case, plain *calls.Result, group string, probe calls.Probe) error {
	call, err := t.PlainCall(t.Caller, c)
	if err != nil {
		return err
	}
	call.Probe, call.Options = group+"."+probe.Name, map[string]any{
		"keeps": savesForBackward(t.Op), "partners": overwrittenWithPartners(t.Op),
	}
	name := probe.Name + ", " + c.Name
	result, err := t.Call(call, name)
	if err != nil {
		return err
	}
	if probe.Refused {
		if result.Error == nil || !t.IsOpError(result.Error) {
			t.Fail(call, name, "want an error of ours, got %+v", result.Error)
		}
		return nil
	}
	if result = t.ExpectSuccess(call, name, result); result == nil {
		return nil
	}
	t.ExpectSameBits(call, name, result, plain)
	for _, note := range slices.Sorted(maps.Keys(result.Notes)) {
		if result.Notes[note] != true {
			t.Fail(call, name, "%s: got %v, want true", note, result.Notes[note])
		}
	}
	return nil
}

// savesForBackward reports whether the gradient of an op needs inputs of the forward call, or outputs that its caller gets:
// nobody can overwrite what only the op itself has saved.
func savesForBackward(op *opdef.Op) bool {
	link := transform.GradientOf(op)
	return link != nil && slices.ContainsFunc(link.Operands, func(o transform.Operand) bool {
		return o.From == transform.FromInput || o.From == transform.FromOutput && !op.Outputs[o.Index].Saved
	})
}

// overwrittenWithPartners are the overwritten inputs whose dtype has to be that of another input.
func overwrittenWithPartners(op *opdef.Op) []int64 {
	places := []int64{}
	for i, in := range op.Inputs {
		for j, other := range op.Inputs {
			if in.Mutated && i != j && in.Type.Var != "" && in.Type.Var == other.Type.Var {
				places = append(places, int64(i))
				break
			}
		}
	}
	return places
}

// GroupWatch are probes that every worker has: they watch what a call does beside computing.
const GroupWatch = "watch"

// CallWatched sends the call with a probe of GroupWatch.
func (t *T) CallWatched(probe string, call *calls.Call, name string, options map[string]any) (*calls.Result, error) {
	call = call.Clone()
	first := 0
	if calls.IsBare(t.Caller) {
		first = len(t.Op.Outputs)
	}
	call.Probe = GroupWatch + "." + probe
	call.Options = map[string]any{"first": int64(first), "inputs": int64(len(t.Op.Inputs))}
	for key, v := range options {
		call.Options[key] = v
	}
	return t.CallUnlessDeclined(t.Caller, call, name)
}

// HasWatchProbe holds where the caller's worker has a probe of a group that watches its process.
func HasWatchProbe(group, probe string, also func(*opdef.Op, calls.Caller) error) func(*opdef.Op, calls.Caller) error {
	return func(op *opdef.Op, caller calls.Caller) error {
		if !OffersProbe(caller, group, probe) {
			return Unsupported("the caller cannot be watched from inside")
		}
		if also == nil {
			return nil
		}
		return also(op, caller)
	}
}
