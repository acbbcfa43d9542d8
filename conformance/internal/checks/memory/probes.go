package memory

import (
	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/internal/language/opdef"
)

// probed is a check that runs the worker's probes about something.
func probed(id, about, doc string, foreign check.Foreign) check.Check {
	return check.Check{
		ID: id, Group: check.GroupAliasing, Doc: doc, Generated: true, Through: check.ThroughAdaptors,
		Needs: check.HasProbes(check.GroupMemory, about), Foreign: foreign, Run: check.RunProbes(check.GroupMemory, about),
	}
}

// anothersGradient is why checks of what autograd remembers do not judge functions.
var anothersGradient = check.Foreign{
	Library: check.AboutGenerated.Library, Functions: "its gradient is its author's, not that of the definition",
}

var staleCheck = probed("stale", "stale", "a backward pass refuses saved tensors that were overwritten since", anothersGradient)

var gradientWrittenCheck = probed("gradient-written", "gradient",
	"a tensor that requires grad is overwritten only while gradients are off", anothersGradient)

var unwritableCheck = probed("unwritable", "written",
	"memory that no kernel can write is refused with the error that says so", check.AboutGenerated)

var donationCheck = probed("donation", "donation", "results lie in donated memory, and in no other", check.Judges)

// versionCheck runs with every op: who forgets to raise the counter writes behind the back of autograd.
func versionCheck() check.Check {
	c := probed("version", "version", "every write raises the version counter that autograd checks", check.Judges)
	c.Generated = false
	return c
}

func hasMutated(op *opdef.Op, _ calls.Caller) error {
	return check.SkipUnless(cases.OverwritesInputs(op), "the op overwrites no input")
}
