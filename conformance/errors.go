package conformance

import (
	"bytes"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/rule"
)

// wrongCase is the right call that faults spoil: the first choice of dtypes, every optional input given.
func (t *T) wrongCase() (*Case, error) {
	all := combinations(t.Op, t.env.device)
	if len(all) == 0 {
		return nil, skip("no kernel for device %s", t.env.device)
	}
	return t.sampledCase(base(all[0]))
}

// faults spoils a right call in every way, one at a time, for a caller.
func (t *T) faults(caller Caller) (*Call, []fault, error) {
	c, err := t.wrongCase()
	if err != nil {
		return nil, nil, err
	}
	program := rule.Compile(t.Op)
	call, err := t.call(caller, c)
	if err != nil {
		return nil, nil, err
	}
	wrong, err := t.wrongCalls(c, program, caller)
	if err != nil {
		return nil, nil, err
	}
	var out []fault
	for _, f := range wrong {
		if f.want == nil {
			f.want = expect(program, f.apply(call), caller, t.env.device)
		}
		if f.want != nil { // else the change is a right call, too
			out = append(out, f)
		}
	}
	if isBare(caller) && len(otherKernels(t.Op, t.env.device)) == 0 {
		out = append(out, noKernel(t.Op, t.env.device))
	}
	out = slices.DeleteFunc(out, func(f fault) bool { return t.env.foreign.forgives(f) })
	slices.SortStableFunc(out, func(a, b fault) int {
		if a.phase != b.phase {
			return a.phase - b.phase
		}
		return strings.Compare(a.arg+a.kind, b.arg+b.kind)
	})
	return call, out, nil
}

// wrongCalls are the changes of a right call that may make it wrong.
func (t *T) wrongCalls(c *Case, program *rule.Program, caller Caller) ([]fault, error) {
	wrong := slices.Concat(wrongArguments(c, caller, t.env.device), wrongSizes(c, program), wrongMemory(c, caller))
	if outputsGiven(t.Op, caller) == nil {
		outputs, err := outFaults(c, caller, t.env.device)
		if err != nil {
			return nil, err
		}
		wrong = append(wrong, outputs...)
	}
	scratch, err := wrongScratch(c, caller, t.env.device)
	return append(wrong, scratch...), err
}

// outFaults are the faults of output arrays; they bring the arrays that are not at fault along.
func outFaults(c *Case, caller Caller, device string) ([]fault, error) {
	wrong, err := wrongOutputs(c, caller, device)
	if err != nil {
		return nil, err
	}
	for i, f := range wrong {
		fit, err := poisoned(c, isBare(caller))
		if err != nil {
			return nil, err
		}
		wrong[i].spoil = func(call *Call) {
			if call.Out == nil {
				call.Out = slices.Clone(fit)
			}
			f.spoil(call)
		}
	}
	return wrong, nil
}

// noKernel puts everything on a device that the op has no kernel for.
func noKernel(op *opdef.Op, device string) fault {
	other := "cuda:0"
	if device != "cpu" {
		other = "cpu"
	}
	text := op.Name + ": no kernel for device " + other + ", available: " + kindOf(device)
	return fault{
		kind: "no kernel", phase: phaseKernel, whole: true, want: &rule.Fault{Class: "NotImplementedError", Text: text},
		spoil: func(call *Call) { call.moveTo(other) },
	}
}

// moveTo puts all arrays of a call on a device.
func (c *Call) moveTo(device string) {
	for i, v := range c.Inputs {
		if x, ok := v.(*Tensor); ok {
			c.Inputs[i] = &Tensor{Array: x.Array, Device: device}
		}
	}
	for _, list := range [][]*Tensor{c.Out, c.Scratch} {
		for i, x := range list {
			if x != nil {
				list[i] = &Tensor{Array: x.Array, Device: device}
			}
		}
	}
}

// modes are the ways in which a caller calls.
func modes(caller Caller) []string { return abilitiesOf(caller).Modes }

// eachFault runs every wrong call of the op through the caller in every mode.
func (t *T) eachFault(body func(f fault, call *Call, name string, result *Result)) error {
	call, faults, err := t.faults(t.Caller)
	if err != nil {
		return err
	}
	for _, mode := range modes(t.Caller) {
		err := forEach(faults, func(f fault) error {
			wrong := f.apply(call)
			wrong.Mode = mode
			name := f.arg + " " + f.kind + ", " + mode
			result, err := t.Call(wrong, name)
			if err != nil {
				return err
			}
			body(f, wrong, name, result)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// raised expects an error of the class with exactly the text.
func (t *T) raised(call *Call, name string, result *Result, want *rule.Fault) {
	switch {
	case result.Error == nil:
		t.Fail(call, name, "returned a result, want %s: %s", want.Class, want.Text)
	case t.env.foreign != nil: // that it raises is enough: the words are its author's
	case result.Error.Class != want.Class || result.Error.Text != want.Text:
		t.Fail(call, name, "raised\n  %s: %s\nwant\n  %s: %s", result.Error.Class, result.Error.Text, want.Class, want.Text)
	}
}

func checkErrors(t *T) error {
	return t.eachFault(func(f fault, call *Call, name string, result *Result) { t.raised(call, name, result, f.want) })
}

// checkCallShape passes an argument that the op does not have, such as out= where nothing is given: Python's own
// TypeError, everywhere alike.
func checkCallShape(t *T) error {
	c, err := t.wrongCase()
	if err != nil {
		return err
	}
	unknown := newCall(c)
	unknown.Extra = map[string]any{"no_such_argument": int64(1)}
	many := newCall(c)
	many.Inputs = append(many.Inputs, Wrong{1}, Wrong{1})
	calls := map[string]*Call{"unknown keyword": unknown, "too many arguments": many}
	if outputsGiven(t.Op, t.Caller) != nil {
		calls["no out="] = newCall(c)
		calls["no out="].Extra = map[string]any{"out": nil}
	}
	for name, call := range calls {
		result, err := t.Call(call, name)
		if err != nil {
			return err
		}
		if result.Error == nil || result.Error.Class != "TypeError" {
			t.Fail(call, name, "want a TypeError, got %+v", result.Error)
		}
	}
	return nil
}

// checkSideEffects makes the wrong calls again: no argument changes, no kernel starts, and a right call still works.
func checkSideEffects(t *T) error {
	err := t.eachFault(func(_ fault, call *Call, name string, result *Result) {
		for i, x := range call.tensors() {
			if x.Device == "" && result.Buffers[i] != nil && !bytes.Equal(x.Data, result.Buffers[i]) {
				t.Fail(call, name, "array argument %d was changed", i)
			}
		}
		if result.Launches != 0 {
			t.Fail(call, name, "started %d kernels before %v", result.Launches, result.Error)
		}
	})
	if err != nil {
		return err
	}
	c, err := t.wrongCase()
	if err != nil {
		return err
	}
	return t.valueOf(c)
}

// checkPrecedence makes two faults at once: the one that the documented order puts first is reported, with the text that
// it has alone.
func checkPrecedence(t *T) error {
	call, faults, err := t.faults(t.Caller)
	if err != nil {
		return err
	}
	if t.Caller.Name() == opCallName {
		// What only NumPy knows of its arrays is found out while they are converted, before the library sees any.
		readOnly := func(x *Tensor) bool { return x.ReadOnly }
		faults = slices.DeleteFunc(faults, func(f fault) bool { return slices.ContainsFunc(f.apply(call).tensors(), readOnly) })
	}
	pairs := faultPairs(t.Op, faults)
	if len(pairs) == 0 {
		return skip("the op has no two independent faults")
	}
	return forEach(pairs, func(pair [2]fault) error {
		both := pair[0].apply(pair[1].apply(call))
		name := pair[0].arg + " " + pair[0].kind + " and " + pair[1].arg + " " + pair[1].kind
		result, err := t.Call(both, name)
		if err != nil {
			return err
		}
		t.raised(both, name, result, pair[0].want)
		return nil
	})
}

// faultPairs combines faults of different arguments and phases, each pair of kinds once, the earlier fault first.
func faultPairs(op *opdef.Op, faults []fault) [][2]fault {
	seen := map[string]bool{}
	var out [][2]fault
	for i, a := range faults {
		// A size that disagrees with another argument is reported there: such a fault has no phase of its own.
		if a.whole || !strings.HasPrefix(a.want.Text, op.Name+": "+a.arg+": ") && a.phase != phaseMissing {
			continue
		}
		for _, b := range faults[i+1:] {
			kinds := a.kind + "/" + b.kind
			if b.whole || a.phase >= b.phase || a.arg == b.arg || seen[kinds] {
				continue
			}
			seen[kinds] = true
			out = append(out, [2]fault{a, b})
		}
	}
	return out
}
