package check

import (
	"errors"
	"slices"
	"strings"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/rule"
)

// RowKernel is the kernel of the present row; nil where dispatch chooses.
func (t *T) RowKernel() *opdef.Kernel {
	list := cases.KernelsOn(t.Op, t.Env.Device)
	if i := slices.IndexFunc(list, func(k opdef.Kernel) bool { return k.Name == opdef.WithoutParams(t.kernel) }); i >= 0 {
		return &list[i]
	}
	return nil
}

// With is the check in the same row, with another kernel in the place of the row's; with none, dispatch chooses. It adds to
// the row that both share, and must not start another.
func (t *T) With(kernel string) *T {
	t.CurrentRow() // exists, so that both have it
	other := *t
	other.kernel = kernel
	return &other
}

// Of is the check in the same row, about another op, whose kernel dispatch chooses. What is measured of that op is not kept:
// it is not the one under test.
func (t *T) Of(op *opdef.Op) *T {
	other := t.With("")
	other.Op, other.Exploring = op, true
	return other
}

// ForcedKernel is the kernel that calls of the present row are restricted to; empty where there is but one.
func (t *T) ForcedKernel() string {
	if len(cases.KernelsOn(t.Op, t.Env.Device)) < 2 && t.kernel == opdef.WithoutParams(t.kernel) {
		return ""
	}
	return t.kernel
}

// generalKernel is the first kernel that takes every call of a choice of dtypes: calls that frameworks derive from
// others stay with it, wherever their arrays lie. Empty if there is none.
func (t *T) generalKernel(d cases.DTypes) string {
	for _, k := range cases.KernelsOn(t.Op, t.Env.Device) {
		if cases.AcceptsDTypes(&k, d) && k.When == nil && !cases.MayDecline(&k) && len(k.Breaks) == 0 {
			return k.Name
		}
	}
	return ""
}

// KeepsParts says whether parts of a call have the bits of the parts of its result, along every parallel dim: by the kernel of the
// present row, and by all that dispatch may choose for the ops of its gradients.
func (t *T) KeepsParts() bool {
	if k := t.RowKernel(); k != nil && len(k.Breaks) > 0 {
		return false
	}
	breaks := func(k opdef.Kernel) bool { return len(k.Breaks) > 0 }
	for op := t.Op; op != nil; op = op.Gradient {
		chosen := op != t.Op || t.RowKernel() == nil
		if chosen && slices.ContainsFunc(cases.Dispatched(op, t.Env.Device), breaks) {
			return false
		}
	}
	return true
}

// unreachedKernelError is the error of a row that has no sample: of a kernel, if its condition excludes all that the
// definition allows.
func (t *T) unreachedKernelError() error {
	if k := t.RowKernel(); k != nil && k.When != nil {
		t.Fail(nil, t.kernel, "no sample meets %q: give samples that do", k.When.Text)
		return nil
	}
	return cases.ErrNoSizes
}

// excluded says whether conditions leave the kernel of the present row no call of some dtypes, though they do of others.
func (t *T) excluded(d cases.DTypes) bool {
	k := t.RowKernel()
	if k == nil || k.When == nil || !cases.Excluded(t.Op, k, d) {
		return false
	}
	return slices.ContainsFunc(cases.DeclaredDTypes(t.Op), func(d cases.DTypes) bool { return !cases.Excluded(t.Op, k, d) })
}

// noCases accounts for a row whose plans make no call, of which first is one: where conditions exclude them all, though not the base
// case, the row is unsupported.
func (t *T) noCases(d cases.DTypes, first cases.Plan) error {
	if _, err := t.NewCase(first); !errors.Is(err, cases.ErrNoSizes) {
		return err
	}
	if _, err := t.NewCase(cases.BasePlan(d)); err != nil {
		return t.unreachedKernelError()
	}
	t.CurrentRow().Unsupported = "conditions exclude all calls that this check makes"
	return nil
}

// ExpectKernelsReached expects some row of each kernel to have run it, unless this machine cannot.
func (t *T) ExpectKernelsReached() {
	for _, k := range cases.KernelsOn(t.Op, t.Env.Device) {
		reason, ran := "", false
		for _, r := range t.Rows {
			if r.Kernel == k.Name {
				ran = ran || r.Checked > 0 || len(r.Failures) > 0 || ofMachine(r.Unsupported)
				reason = r.Unsupported
			}
		}
		if !ran {
			t.StartRow(k.Name, "")
			t.Fail(nil, k.Name, "no sample reaches the kernel; it said: %q", reason)
		}
	}
}

// kernelRefusalText is the beginning of the error with which the kernel of the present row refuses a call.
func (t *T) kernelRefusalText() string {
	return t.Op.Name + ": no kernel takes this call on " + t.Env.Device + ": " + opdef.WithoutParams(t.kernel) + ": "
}

// Declined is the error of a call that the kernel of the present row does not run although the definition does not exclude it;
// nil for other calls.
func (t *T) Declined(call *calls.Call, result *calls.Result) error {
	if reason := t.declineReason(call, result); reason != "" {
		return t.Inexpressible(reason)
	}
	return nil
}

// declineReason says why the kernel of the present row does not run a call although the definition does not exclude it: the
// architecture, the author's predicate, or where arrays lie. Empty if it has no such reason.
func (t *T) declineReason(call *calls.Call, result *calls.Result) string {
	k := t.RowKernel()
	if k == nil || call.Kernel == "" || result.Error == nil {
		return ""
	}
	// Compiled code may put a status of the framework before our class and text, in a class of its own.
	_, reason, ours := strings.Cut(result.Error.Class+": "+result.Error.Text, "NotImplementedError: "+t.kernelRefusalText())
	if !ours || !cases.DependsOnMemory(k.When) && !cases.MayDecline(k) && !ofMachine(reason) {
		return ""
	}
	return reason
}

// Misplaced is the reason for which no kernel takes a call, if that is where arrays lie which nobody copies: those of a bare caller,
// and what is written. It is empty for other calls.
func (t *T) Misplaced(caller calls.Caller, e *calls.CallError) string {
	stays := func(arg opdef.Arg) bool {
		return t.Op.AskedAlignment(&arg) > 1 && (calls.IsBare(caller) || t.Op.Alignment(&arg) == 1)
	}
	if e == nil || !slices.ContainsFunc(slices.Concat(t.Op.Inputs, t.Op.Outputs), stays) {
		return ""
	}
	_, reason, ours := strings.Cut(e.String(), "NotImplementedError: "+t.Op.Name+": no kernel takes this call on "+t.Env.Device+": ")
	if !ours || !strings.Contains(reason, "aligned(") {
		return ""
	}
	return reason
}

// errorText is the text of the error that a call raised; "" if it raised none.
func errorText(result *calls.Result) string {
	if result.Error == nil {
		return ""
	}
	return result.Error.Text
}

// notEmulated begins the reason of a kernel whose file no compiler takes for the emulated device.
const notEmulated = "not emulated: "

// ofMachine reports whether a kernel refuses every call because of the machine, or because it was not built. The author's
// predicate says of the machine what it lacks.
func ofMachine(reason string) bool {
	for _, start := range []string{"built for ", "needs an architecture ", "not built into ", notEmulated, "this machine lacks "} {
		if strings.HasPrefix(reason, start) {
			return true
		}
	}
	return strings.HasSuffix(reason, ", which this CPU lacks")
}

// ExpectKernelRefusal expects the error of a kernel that is forced to run a call which it does not take.
func (t *T) ExpectKernelRefusal(k *opdef.Kernel, c *cases.Case) error {
	call, err := t.PlainCall(t.Caller, c)
	if err != nil {
		return err
	}
	call.Kernel = k.Name
	result, err := t.CallAsIs(t.Caller, call, c.Name)
	if err != nil {
		return err
	}
	if _, said, refused := strings.Cut(errorText(result), t.kernelRefusalText()); refused && strings.HasPrefix(said, notEmulated) {
		return t.Inexpressible(said)
	}
	reason := "needs "
	if k.When != nil && cases.AcceptsDTypes(&opdef.Kernel{DTypes: k.DTypes}, c.DTypes) {
		reason += k.When.Text
	}
	want := &rule.Error{Class: "NotImplementedError", Text: t.kernelRefusalText() + reason}
	if e := result.Error; e == nil || e.Class != want.Class || !strings.HasPrefix(e.Text, want.Text) {
		t.ExpectError(call, c.Name, result, want)
	}
	return nil
}
