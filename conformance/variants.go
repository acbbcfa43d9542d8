package conformance

import (
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/opdef/expr"
	"github.com/opcast/opcast/internal/rule"
)

// kindOf is the kind of a device: "cuda" of "cuda:0".
func kindOf(device string) string {
	kind, _, _ := strings.Cut(device, ":")
	return kind
}

// kernelsOn are the kernels of an op for a device, in the order of dispatch.
func kernelsOn(op *opdef.Op, device string) []opdef.Kernel {
	return slices.DeleteFunc(slices.Clone(op.KernelList()), func(k opdef.Kernel) bool { return k.Device != kindOf(device) })
}

// otherKernels are the kernels for other devices than the one under test.
func otherKernels(op *opdef.Op, device string) []opdef.Kernel {
	return slices.DeleteFunc(slices.Clone(op.KernelList()), func(k opdef.Kernel) bool { return k.Device == kindOf(device) })
}

// variant is the kernel of the present row; nil where dispatch chooses.
func (t *T) variant() *opdef.Kernel {
	list := kernelsOn(t.Op, t.env.device)
	if i := slices.IndexFunc(list, func(k opdef.Kernel) bool { return k.Name == t.kernel }); i >= 0 {
		return &list[i]
	}
	return nil
}

// with is the check in the same row, with another kernel in the place of the row's; with none, dispatch chooses.
func (t *T) with(kernel string) *T {
	t.row() // exists, so that both have it
	other := *t
	other.kernel = kernel
	return &other
}

// forced is the kernel that calls of the present row are restricted to; empty where there is but one.
func (t *T) forced() string {
	if len(kernelsOn(t.Op, t.env.device)) < 2 {
		return ""
	}
	return t.kernel
}

// general is the first kernel that takes every call of a choice of dtypes: calls that frameworks derive from others stay
// with it, wherever their arrays lie. Empty if there is none.
func (t *T) general(d dtypes) string {
	for _, k := range kernelsOn(t.Op, t.env.device) {
		if takes(&k, d) && k.When == nil && !picky(&k) {
			return k.Name
		}
	}
	return ""
}

// unreached is the error of a row that has no sample: of a kernel, if its condition excludes all that the definition allows.
func (t *T) unreached() error {
	if k := t.variant(); k != nil && k.When != nil {
		t.Fail(nil, t.kernel, "no sample meets %q: give samples that do", k.When.Text)
		return nil
	}
	return errNoSizes
}

// reached expects some row of each kernel to have run it, unless this machine cannot.
func (t *T) reached() {
	for _, k := range kernelsOn(t.Op, t.env.device) {
		reason, ran := "", false
		for _, r := range t.rows {
			if r.kernel == k.Name {
				ran = ran || r.done > 0 || len(r.failures) > 0 || otherArch(r.unsupported)
				reason = r.unsupported
			}
		}
		if !ran {
			t.Row(k.Name, "")
			t.Fail(nil, k.Name, "no sample reaches the kernel; it said: %q", reason)
		}
	}
}

// refusal is the beginning of the error with which the kernel of the present row refuses a call.
func (t *T) refusal() string {
	return t.Op.Name + ": no kernel takes this call on " + t.env.device + ": " + t.kernel + ": "
}

// declined says why the kernel of the present row does not run a call although the definition does not exclude it: the
// architecture, the author's predicate, or where arrays lie. Empty if it has no such reason.
func (t *T) declined(call *Call, result *Result) string {
	k := t.variant()
	if k == nil || call.Kernel == "" || result.Error == nil || result.Error.Class != "NotImplementedError" {
		return ""
	}
	reason, ours := strings.CutPrefix(result.Error.Text, t.refusal())
	if !ours || !placed(k.When) && !picky(k) && !otherArch(reason) {
		return ""
	}
	return reason
}

// picky reports whether a kernel may refuse calls for reasons that the definition does not tell.
func picky(k *opdef.Kernel) bool { return k.Arch != "" || k.Supported }

// otherArch reports whether a kernel refuses because of the machine, or because it was not built.
func otherArch(reason string) bool {
	for _, start := range []string{"built for ", "needs an architecture ", "not built into "} {
		if strings.HasPrefix(reason, start) {
			return true
		}
	}
	return false
}

// checkVariants calls where a kernel must not run: with dtypes that it does not take, and with sizes that its condition
// excludes. Forced, it refuses with the reason; left to itself, dispatch runs the first kernel that takes the call. Kernels
// for other devices are listed as unsupported.
func checkVariants(t *T) error {
	t.elsewhere()
	for _, k := range kernelsOn(t.Op, t.env.device) {
		for _, d := range variantDTypes(t.Op, &k) {
			t.Row(k.Name, d.String())
			if err := t.excluded(&k, d); err != nil {
				return err
			}
		}
	}
	return nil
}

// elsewhere gives a row to each kernel that cannot run here.
func (t *T) elsewhere() {
	for _, k := range otherKernels(t.Op, t.env.device) {
		t.Row(k.Name, "")
		t.row().unsupported = "is for " + k.Device + "; the device under test is " + t.env.device
	}
}

// variantDTypes are one choice of dtypes that the kernel takes and one that it does not, of those that the op allows.
func variantDTypes(op *opdef.Op, k *opdef.Kernel) []dtypes {
	var out []dtypes
	seen := map[bool]bool{}
	for _, d := range combinations(op, k.Device) {
		if fits := takes(k, d); !seen[fits] {
			seen[fits] = true
			out = append(out, d)
		}
	}
	return out
}

// excluded calls with dtypes that a kernel may or may not take, where it may with sizes that it does and does not take.
func (t *T) excluded(k *opdef.Kernel, d dtypes) error {
	var list []*Case
	for _, p := range append(valuePlans(t.Op, d), meeting(k, d, true), meeting(k, d, false)) {
		c, err := t.sampledCase(p)
		if err == nil && (len(list) == 0 || !slices.ContainsFunc(list, func(o *Case) bool { return o.taken(k) == c.taken(k) })) {
			list = append(list, c)
		}
	}
	if k.When != nil && takes(k, d) && !slices.ContainsFunc(list, func(c *Case) bool { return c.taken(k) == no }) {
		if !decided(k.When, d) {
			t.Fail(nil, k.Name, "no sample misses %q: give samples that do", k.When.Text)
		}
	}
	for _, c := range list {
		if err := proceed(t.chosen(k, c)); err != nil {
			return err
		}
	}
	return nil
}

// meeting is a plan that meets, or misses, the condition of a kernel.
func meeting(k *opdef.Kernel, d dtypes, met bool) plan {
	p := base(d)
	if k.When != nil {
		p.name, p.when = "condition met", k.When
		if !met {
			p.name, p.when = "condition missed", &expr.Expr{Op: expr.OpNot, Args: []*expr.Expr{k.When}, Text: "not " + k.When.Text}
		}
	}
	return p
}

// decided reports whether the condition depends on nothing that a sample could change: on dtypes and places only.
func decided(when *expr.Expr, d dtypes) bool {
	return len(slices.DeleteFunc(when.Symbols(), func(name string) bool { _, isVar := d[name]; return isVar || name == "" })) == 0 ||
		when.EvalCondition(d, expr.NoValues{}) == yes
}

// chosen makes one call with the kernel forced, and one with the choice left to dispatch.
func (t *T) chosen(k *opdef.Kernel, c *Case) error {
	if c.taken(k) == no {
		if err := proceed(t.refuses(k, c)); err != nil {
			return err
		}
	}
	first := slices.IndexFunc(kernelsOn(t.Op, t.env.device), func(k opdef.Kernel) bool { return c.taken(&k) != no })
	if first < 0 {
		return nil // no kernel takes it: a call of its own kind, whose error the rules of dtypes tell
	}
	call, got, err := t.with("").right(t.Caller, c)
	if err != nil {
		return err
	}
	if expected := kernelsOn(t.Op, t.env.device)[first]; c.taken(&expected) == yes {
		want, err := t.with(expected.Name).baseline(t.Caller, c)
		if err != nil {
			return err
		}
		t.identical(call, c.Name+", dispatched to "+expected.Name, got, want)
	}
	return t.matches(call, c, got)
}

// refuses expects the error of a kernel that is forced to run a call which it does not take.
func (t *T) refuses(k *opdef.Kernel, c *Case) error {
	call, err := t.call(t.Caller, c)
	if err != nil {
		return err
	}
	call.Kernel = k.Name
	result, err := t.direct(t.Caller, call, c.Name)
	if err != nil {
		return err
	}
	reason := "needs "
	if k.When != nil && takes(&opdef.Kernel{DTypes: k.DTypes}, c.DTypes) {
		reason += k.When.Text
	}
	want := &rule.Fault{Class: "NotImplementedError", Text: t.refusal() + reason}
	if e := result.Error; e == nil || e.Class != want.Class || !strings.HasPrefix(e.Text, want.Text) {
		t.raised(call, c.Name, result, want)
	}
	return nil
}
