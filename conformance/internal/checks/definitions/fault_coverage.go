package definitions

import (
	"cmp"
	"slices"
	"strings"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/invalid"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/expr"
	"github.com/opcast/opcast/internal/language/rule"
)

var faultCoverageCheck = about("fault-coverage", check.GroupErrors, check.Judges, nil,
	"for each rule there is an invalid call that breaks it", CheckFaultCoverage)

// CheckFaultCoverage leaves each rule out in turn: some invalid call must notice, else no test would miss the rule.
func CheckFaultCoverage(t *check.T) error {
	c, err := t.ValidCase()
	if err != nil {
		return err
	}
	program := rule.Compile(t.Op)
	wrong, err := allInvalidCalls(t, c, program)
	if err != nil {
		return err
	}
	t.CurrentRow().Checked++
	var unbroken []rule.Rule
	broken := map[string]bool{} // a form has several rules where attrs choose what it means
	for i, r := range program.Rules {
		if !breakable(r) || isRepeated(t.Op, r) {
			continue
		}
		without := *program
		without.Rules = slices.Delete(slices.Clone(program.Rules), i, i+1)
		switch {
		case slices.ContainsFunc(wrong, func(w *calls.Call) bool { return detectsWithout(program, &without, w, t.Env.Device) }):
			broken[r.Arg+r.Form] = true
		case mayHoldAlways(c, r):
			unbroken = append(unbroken, r)
		default:
			t.Fail(nil, "rules", "no invalid call breaks rule %d: %s %s%s", i, r.Arg, r.Form, strings.Join(r.Allowed, ", "))
		}
	}
	var forms []string
	for _, r := range unbroken {
		if r.When == nil || !broken[r.Arg+r.Form] {
			forms = append(forms, cmp.Or(r.Form, "the memory of "+r.Arg))
		}
	}
	if len(forms) > 0 {
		t.CurrentRow().Note = "no call was found that breaks " + strings.Join(forms, ", ")
	}
	return nil
}

// allInvalidCalls are the invalid calls of all callers together.
func allInvalidCalls(t *check.T, c *cases.Case, program *rule.Program) ([]*calls.Call, error) {
	backend := calls.StubCaller{CallerName: calls.BackendName}
	call := calls.New(c)
	var err error
	if call.Out, err = calls.PoisonedOutputs(c, true); err != nil {
		return nil, err
	}
	if err := call.AddScratch(backend, c); err != nil {
		return nil, err
	}
	outputs, err := invalid.Outputs(c, backend, t.Env.Device)
	if err != nil {
		return nil, err
	}
	scratch, err := invalid.Scratch(c, backend, t.Env.Device)
	if err != nil {
		return nil, err
	}
	changes := slices.Concat(outputs, scratch, invalid.Memory(c, calls.Definition{}), invalid.Sizes(c, program), invalid.Choices(c, program))
	for _, one := range []calls.StubCaller{{}, {Abilities: &calls.Abilities{Writes: true, Elsewhere: secondDevice(t.Env.Device)}}} {
		changes = append(changes, invalid.Arguments(c, one, t.Env.Device)...)
	}
	var wrong []*calls.Call
	for _, f := range changes {
		wrong = append(wrong, f.Apply(call))
	}
	return wrong, nil
}

// secondDevice is one that no machine lacks.
func secondDevice(device string) string {
	if device == "cpu" {
		return "meta"
	}
	return "cpu"
}

// detectsWithout reports whether an invalid call has another error without the rule. Leaving a rule out may leave
// later ones without what it bound, which shows as well.
func detectsWithout(program, without *rule.Program, call *calls.Call, device string) (differs bool) {
	defer func() {
		if recover() != nil {
			differs = true
		}
	}()
	a, b := invalid.ExpectedError(program, call, calls.Definition{}, device), invalid.ExpectedError(without, call, calls.Definition{}, device)
	return a != nil && (b == nil || *a != *b)
}

// breakable reports whether some call can break the rule: some only bind what others use, or hold for every array.
func breakable(r rule.Rule) bool {
	switch r.Kind {
	case rule.BatchBind, rule.Let, rule.Carried: // only the library itself learns a dtype from an output
		return false
	case rule.Layout:
		return r.Mutated // adaptors copy other inputs
	case rule.Require, rule.OutSize:
		return !r.Huge // else no array of a test is large enough
	case rule.SizeBind:
		return r.Coef.Op != expr.OpConst || r.Coef.Value != 1 || r.Const.Op != expr.OpConst || r.Const.Value != 0
	case rule.Rank:
		return !r.AtLeast || r.Rank > 0
	}
	return true
}

// mayHoldAlways reports whether a rule that no invalid call breaks may be one that none can: a condition that all sizes
// meet, a dim that fits for all values of attrs, an output that is switched off, where an array of one element, or of none, lies,
// or that the elements of one row lie apart.
func mayHoldAlways(c *cases.Case, r rule.Rule) bool {
	switch r.Kind {
	case rule.Presence, rule.Output: // flags that exclude each other leave a case without some output
		return c.Op.Switch(r.Tensor) != nil && c.Attr(r.Tensor.PresentIf) != true
	case rule.Require, rule.OutSize:
		return true
	case rule.SizeBind, rule.SizeIs:
		return (r.When != nil || r.Kind == rule.SizeBind) && len(invalid.Chosen(c.Op, r)) > 0
	case rule.Layout, rule.Distinct, rule.Apart:
		x := c.Inputs[c.Op.InputIndex(r.Arg)]
		return x != nil && (x.Len() < 2 || r.Kind == rule.Distinct && x.Rank() < 2 || r.Kind == rule.Apart && !overlapping(c, r))
	}
	return false
}

// overlapping reports whether a call has an array with elements with which the input of the rule could share memory.
func overlapping(c *cases.Case, r rule.Rule) bool {
	return slices.ContainsFunc(r.Others, func(name string) bool {
		other := c.Inputs[c.Op.InputIndex(name)]
		return addsApart(c.Op, r, name) && other != nil && other.Len() > 0
	})
}

// isRepeated reports whether all that a rule forbids is forbidden by earlier ones: that a mutated input lies apart from
// others, which are mutated themselves and come first.
func isRepeated(op *opdef.Op, r rule.Rule) bool {
	return r.Kind == rule.Apart && !slices.ContainsFunc(r.Others, func(name string) bool { return addsApart(op, r, name) })
}

// addsApart reports whether no earlier rule forbids that an input lies where the mutated one of the rule lies.
func addsApart(op *opdef.Op, r rule.Rule, name string) bool {
	i := op.InputIndex(name)
	return !op.Inputs[i].Mutated || i > op.InputIndex(r.Arg)
}
