package values

import (
	"slices"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/internal/language/opdef"
)

var paramsCheck = check.Check{
	ID: "params", Group: check.GroupValues,
	Doc:     "where parts of an op are computed alike, the parameters of its kernels change no bit",
	Needs:   hasParams,
	Foreign: check.Foreign{Library: "the library does not tell of kernels: it has no _opcast_force", Functions: check.AboutGenerated.Functions},
	Run:     CheckParams,
}

// hasParams holds where the sizes of a call choose parameters, and must not choose bits.
func hasParams(op *opdef.Op, caller calls.Caller) error {
	if !calls.IsBare(caller) {
		return check.Skip("what dispatch does is shown by the bare backend")
	}
	if !slices.ContainsFunc(op.KernelList(), func(k opdef.Kernel) bool { return len(k.Params) > 0 }) {
		return check.Skip("no kernel has parameters")
	}
	return check.SkipUnless(op.Deterministic && len(op.SplitDims()) > 0, "the op has no parallel dimension, or no promise of bits")
}

// CheckParams compares all choices of the parameters with the first: a call and its parts may get different ones.
func CheckParams(t *check.T) error {
	for _, d := range cases.SupportedDTypes(t.Op, t.Env.Device) {
		for _, k := range cases.KernelsOn(t.Op, t.Env.Device) {
			if len(k.Params) == 0 || len(k.Breaks) > 0 || !cases.AcceptsDTypes(&k, d) {
				continue
			}
			t.StartRow(k.Name, d.String())
			plans := append(cases.ValuePlans(t.Op, d), splitPlans(t.Op, d)...)
			err := check.ForEach(t.CasesOf(plans), func(c *cases.Case) error { return sameWithAll(t, &k, c) })
			if err := check.Proceed(err); err != nil {
				return err
			}
		}
	}
	return nil
}

// sameWithAll makes one call with each choice.
func sameWithAll(t *check.T, k *opdef.Kernel, c *cases.Case) error {
	choices := k.Choices()
	want, err := t.With(k.WithParams(choices[0])).RunBaseline(t.Caller, c)
	if err != nil {
		return err
	}
	for _, choice := range choices[1:] {
		name := k.WithParams(choice)
		call, got, err := t.With(name).RunCase(t.Caller, c)
		if err != nil {
			return err
		}
		t.ExpectSameBits(call, c.Name+", "+name+" beside "+k.WithParams(choices[0]), got, want)
	}
	return nil
}
