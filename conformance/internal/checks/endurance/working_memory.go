package endurance

import (
	"time"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/internal/language/opdef"
)

var workingMemoryCheck = check.Check{
	ID: "working-memory", Group: check.GroupEndurance, Profile: check.ProfileExtended,
	Doc:      "beside its arguments, a call takes at most 64 MiB, twice their size, and the stacks of its threads",
	HostOnly: "a kernel takes the memory of its device, which a process does not limit",
	Needs:    needsDataLimit, Foreign: check.Judges, Run: check.WithFewerDTypes(checkWorkingMemory),
}

// What a call may take beside its arguments and the stacks of its threads: so many bytes, and so many times the size of its arguments.
const (
	workingBytes = 64 << 20
	workingTimes = 2
)

// needsDataLimit holds for the bare backend, whose caller passes all arrays: a framework allocates its own.
func needsDataLimit(op *opdef.Op, caller calls.Caller) error {
	if err := check.IsBackend(op, caller); err != nil {
		return err
	}
	return check.HasWatchProbe(GroupEnduranceProbes, "bounded", nil)(op, caller)
}

// longGrowth is how long a call may take for the next one to be longer.
const longGrowth = 300 * time.Millisecond

// checkWorkingMemory makes one dim after the other longer, with little memory to spare.
func checkWorkingMemory(t *check.T) error {
	return t.EachRow(func(d cases.DTypes) error {
		return check.ForEach(cases.GrowingPlans(t.Op, d), func(growing cases.Growing) error {
			for n := int64(1 << 10); n <= 1<<14; n *= 4 {
				c, err := t.NewCase(growing.Plan(n))
				if err != nil || c.LargeScratch() {
					return nil //nolint:nilerr // the definition excludes the size, or there is no room for an array
				}
				begin := time.Now()
				call, err := t.PlainCall(t.Caller, c)
				if err == nil {
					err = callWithin(t, call, c.Name, workingBytes+workingTimes*bytesOf(call))
				}
				if err != nil || time.Since(begin) > longGrowth {
					return err
				}
			}
			return nil
		})
	})
}

// callWithin makes a call in which the process may take so many bytes more than it has.
func callWithin(t *check.T, call *calls.Call, name string, bytes int64) error {
	call = call.Clone()
	call.Kernel, call.Probe = t.ForcedKernel(), GroupEnduranceProbes+".bounded"
	call.Options = map[string]any{"bytes": bytes}
	result, err := t.CallUnlessDeclined(t.Caller, call, name)
	if err != nil {
		return err
	}
	if result.Error != nil {
		t.Fail(call, name, "raised %s\n%s", result.Error, result.Error.Trace)
		return check.ErrAccounted
	}
	if short, _ := result.Notes["short"].(string); short != "" {
		t.Fail(call, name, "it raised %s: it may take %d MiB beside its arguments", short, bytes>>20)
		return check.ErrAccounted
	}
	return nil
}

// bytesOf is the size of the arrays of a call.
func bytesOf(call *calls.Call) (bytes int64) {
	for _, x := range call.Tensors() {
		bytes += int64(len(x.Data))
	}
	return bytes
}
