package conformance

import (
	"slices"

	"github.com/opcast/opcast/internal/opdef"
)

// What a check needs to apply: each returns nil, or why the op or the caller has nothing to check.

func hasAttrs(op *opdef.Op, _ Caller) error {
	return unless(slices.ContainsFunc(op.Attrs, func(a opdef.Attr) bool { return a.Binds == "" }), "the op has no attrs")
}

func hasDefaults(op *opdef.Op, _ Caller) error {
	given := func(a opdef.Attr) bool { return a.HasDefault && a.DefaultExpr == nil || a.Type == "float" }
	return unless(slices.ContainsFunc(op.Attrs, given), "no attr has a constant default")
}

func hasOptional(op *opdef.Op, _ Caller) error {
	return unless(slices.ContainsFunc(op.Inputs, func(a opdef.Arg) bool { return a.Optional }), "the op has no optional inputs")
}

func hasBatch(op *opdef.Op, _ Caller) error {
	return unless(op.HasBatch(), "the op has no leading dimensions")
}

func hasParallel(op *opdef.Op, _ Caller) error {
	return unless(len(splitDims(op)) > 0, "the op has no parallel dimension")
}

func hasDims(op *opdef.Op, _ Caller) error {
	return unless(len(zeroPlans(op, nil)) > 0, "the op has no free dimension")
}

func hasMutated(op *opdef.Op, _ Caller) error {
	return unless(mutates(op), "the op overwrites no input")
}

// hasSaved holds where a caller may choose whether to ask for saved outputs.
func hasSaved(op *opdef.Op, caller Caller) error {
	if len(op.Saved()) == 0 {
		return skip("the op saves nothing for its gradient")
	}
	return unless(isBare(caller), "a public call does not return what is saved")
}

// hasContents holds where an input declares the range of its elements.
func hasContents(op *opdef.Op, _ Caller) error {
	ranged := func(a opdef.Arg) bool { return a.Min != nil || a.Max != nil }
	return unless(slices.ContainsFunc(op.Inputs, ranged), "no input has a range")
}

// hasVariants holds where dispatch has a choice, or a kernel a condition.
func hasVariants(op *opdef.Op, caller Caller) error {
	if !isBare(caller) {
		return skip("what dispatch does is shown by the bare backend")
	}
	list := op.KernelList()
	return unless(len(list) > 1 || list[0].When != nil, "the op has one kernel")
}

// byNumber holds for the caller that names an op by its number.
func byNumber(_ *opdef.Op, caller Caller) error {
	return unless(caller.Name() == opCallName, "about calls of an op by its number")
}

func isBackend(_ *opdef.Op, caller Caller) error {
	return unless(caller.Name() == backendName, "shown by the bare backend")
}

func isDeterministic(op *opdef.Op, _ Caller) error {
	return unless(op.Deterministic, "the definition does not promise the same bits")
}

func hasGradient(op *opdef.Op, _ Caller) error {
	return unless(op.Gradient != nil, "the op has no gradient")
}

func hasProbes(_ *opdef.Op, caller Caller) error {
	return unless(len(caller.Probes(groupSpecial)) > 0, "the framework has no special arrays")
}

func unless(ok bool, reason string) error {
	if ok {
		return nil
	}
	return skip("%s", reason)
}

// outputsGiven holds where the caller of an op may provide the memory of the results.
func outputsGiven(op *opdef.Op, caller Caller) error {
	if len(op.Outputs) == 0 {
		return skip("the op has no outputs")
	}
	if mutates(op) && !isBare(caller) {
		return skip("an op that mutates its inputs has no out=")
	}
	switch can := abilitiesOf(caller); {
	case !can.Writes:
		return unsupported("%s is immutable: there is no out=", caller.Word())
	case !can.Out:
		return unsupported("the functions of %s have no out=", caller.Name())
	}
	return nil
}

func takesKeywords(_ *opdef.Op, caller Caller) error {
	if isBare(caller) {
		return unsupported("an export takes its arguments by position")
	}
	return nil
}

func notBackend(_ *opdef.Op, caller Caller) error {
	if isBare(caller) {
		return skip("the other callers are compared with this one")
	}
	return nil
}
