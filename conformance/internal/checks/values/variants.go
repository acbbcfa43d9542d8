package values

import (
	"slices"
	"strings"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/expr"
)

var variantsCheck = check.Check{
	ID: "variants", Group: check.GroupValues,
	Doc:     "a kernel that must not take a call refuses it, and dispatch runs another",
	Needs:   hasVariants,
	Foreign: check.Foreign{Library: "the library does not tell of kernels: it has no _opcast_force", Functions: check.AboutGenerated.Functions},
	Run:     CheckVariants,
}

// hasVariants holds where dispatch has a choice, or a kernel a condition.
func hasVariants(op *opdef.Op, caller calls.Caller) error {
	if !calls.IsBare(caller) {
		return check.Skip("what dispatch does is shown by the bare backend")
	}
	list := op.KernelList()
	return check.SkipUnless(len(list) > 1 || list[0].When != nil, "the op has one kernel")
}

// CheckVariants calls where a kernel must not run: with dtypes that it does not take, and with sizes that its condition
// excludes. Forced, it refuses with the reason; left to itself, dispatch runs the first kernel that takes the call. Kernels
// for other devices are listed as unsupported.
func CheckVariants(t *check.T) error {
	reportOtherKernels(t)
	for _, k := range cases.KernelsOn(t.Op, t.Env.Device) {
		for _, d := range variantDTypes(t.Op, &k) {
			t.StartRow(k.Name, d.String())
			if err := checkExcludedCalls(t, &k, d); err != nil {
				return err
			}
		}
	}
	return nil
}

// reportOtherKernels gives a row to each kernel that cannot run here.
func reportOtherKernels(t *check.T) {
	for _, k := range cases.OtherKernels(t.Op, t.Env.Device) {
		t.StartRow(k.Name, "")
		t.CurrentRow().Unsupported = "is for " + strings.Join(k.Devices, " and ") + "; the device under test is " + t.Env.Device
	}
}

// variantDTypes are one choice of dtypes that the kernel takes and one that it does not, of those that the op allows.
func variantDTypes(op *opdef.Op, k *opdef.Kernel) []cases.DTypes {
	var out []cases.DTypes
	seen := map[bool]bool{}
	for _, d := range cases.SupportedDTypes(op, k.Devices[0]) {
		if fits := cases.AcceptsDTypes(k, d); !seen[fits] {
			seen[fits] = true
			out = append(out, d)
		}
	}
	return out
}

// checkExcludedCalls calls with dtypes that a kernel may or may not take, where it may with sizes that it does and
// does not take.
func checkExcludedCalls(t *check.T, k *opdef.Kernel, d cases.DTypes) error {
	var list []*cases.Case
	for _, p := range append(cases.ValuePlans(t.Op, d), conditionPlan(k, d, true), conditionPlan(k, d, false)) {
		c, err := t.MeetingCase(p)
		if err == nil && (len(list) == 0 || !slices.ContainsFunc(list, func(o *cases.Case) bool { return o.Acceptance(k) == c.Acceptance(k) })) {
			list = append(list, c)
		}
	}
	if k.When != nil && cases.AcceptsDTypes(k, d) && !slices.ContainsFunc(list, func(c *cases.Case) bool { return c.Acceptance(k) == expr.KnownFalse }) {
		if !dtypesDecide(k.When, d) && !aboutLarge(k.When) {
			t.Fail(nil, k.Name, "no sample misses %q: give samples that do", k.When.Text)
		}
	}
	return check.ForEach(list, func(c *cases.Case) error { return checkForcedAndDispatched(t, k, c) })
}

// conditionPlan is a plan that meets, or misses, the condition of a kernel.
func conditionPlan(k *opdef.Kernel, d cases.DTypes, met bool) cases.Plan {
	p := cases.BasePlan(d)
	if k.When != nil {
		p.Name, p.When = "condition met", k.When
		if !met {
			p.Name, p.When = "condition missed", &expr.Expr{Op: expr.OpNot, Args: []*expr.Expr{k.When}, Text: "not " + k.When.Text}
		}
	}
	return p
}

// dtypesDecide reports whether the condition depends on nothing that a sample could change: on dtypes and places only.
func dtypesDecide(when *expr.Expr, d cases.DTypes) bool {
	return len(slices.DeleteFunc(when.Symbols(), func(name string) bool { _, isVar := d[name]; return isVar || name == "" })) == 0 ||
		when.EvalCondition(d, expr.NoValues{}) == expr.KnownTrue
}

// aboutLarge reports whether a condition compares with a number that no size of a sample reaches, such as 2**31; what is divided, as
// is_pow2 does, does not count.
func aboutLarge(when *expr.Expr) (large bool) {
	when.Walk(func(e *expr.Expr) {
		for _, arg := range e.Args {
			n, err := arg.Eval(expr.NoValues{})
			large = large || e.Op != expr.OpMod && err == nil && n > cases.MaxElements
		}
	})
	return large
}

// checkForcedAndDispatched makes one call with the kernel forced, and one with the choice left to dispatch.
func checkForcedAndDispatched(t *check.T, k *opdef.Kernel, c *cases.Case) error {
	if c.Acceptance(k) == expr.KnownFalse && !c.Empty() { // a call that writes nothing asks no kernel
		if err := check.Proceed(t.ExpectKernelRefusal(k, c)); err != nil {
			return err
		}
	}
	first := slices.IndexFunc(cases.KernelsOn(t.Op, t.Env.Device), func(k opdef.Kernel) bool { return c.Acceptance(&k) != expr.KnownFalse })
	if first < 0 {
		return nil // no kernel takes it: a call of its own kind, whose error the rules of dtypes tell
	}
	call, got, err := t.With("").RunCase(t.Caller, c)
	if err != nil {
		return err
	}
	if expected := cases.KernelsOn(t.Op, t.Env.Device)[first]; c.Acceptance(&expected) == expr.KnownTrue {
		want, err := t.With(expected.Name).RunBaseline(t.Caller, c)
		if err != nil {
			return err
		}
		t.ExpectSameBits(call, c.Name+", dispatched to "+expected.Name, got, want)
	}
	return t.ExpectReference(call, c, got)
}
