package conformance

import (
	"fmt"
	"slices"

	"github.com/opcast/opcast/internal/ndarray"
	"github.com/opcast/opcast/internal/opdef"
)

// groupWatch are probes that every worker has: they watch what a call does beside computing.
const groupWatch = "watch"

// watched sends the call with a probe of groupWatch.
func (t *T) watched(probe string, call *Call, name string, options map[string]any) (*Result, error) {
	call = call.clone()
	first := 0
	if isBare(t.Caller) {
		first = len(t.Op.Outputs)
	}
	call.Probe = groupWatch + "." + probe
	call.Options = map[string]any{"first": int64(first), "inputs": int64(len(t.Op.Inputs))}
	for key, v := range options {
		call.Options[key] = v
	}
	return t.direct(t.Caller, call, name)
}

// watches holds where the caller's worker has a probe of groupWatch.
func watches(probe string, also func(*opdef.Op, Caller) error) func(*opdef.Op, Caller) error {
	return func(op *opdef.Op, caller Caller) error {
		if !offersProbe(caller, groupWatch, probe) {
			return unsupported("the caller cannot be watched from inside")
		}
		if also == nil {
			return nil
		}
		return also(op, caller)
	}
}

// checkNotCopied holds the addresses that a kernel sees against those of the caller's arrays: dense inputs, those whose
// strides the definition allows, overwritten ones and given outputs are never copied.
func checkNotCopied(t *T) error {
	return t.eachCase(func(d dtypes) []plan { return []plan{base(d)} }, func(c *Case) error {
		if err := proceed(t.seenInPlace(c)); err != nil {
			return err
		}
		for i, in := range t.Op.Inputs {
			for _, layout := range ndarray.Layouts {
				if c.Inputs[i] == nil || !allowed(in.Stride, layout.Name) {
					continue
				}
				if view := layout.Apply(c.Inputs[i]); view != nil {
					if err := proceed(t.seenInPlace(c.with(i, view, in.Name+" "+layout.Name))); err != nil {
						return err
					}
				}
			}
		}
		return nil
	})
}

// allowed reports whether a kernel takes a layout as it is. Views whose first element is not their lowest address are left
// out: the addresses that are compared are the lowest ones.
func allowed(stride, layout string) bool {
	return stride == "last" && layout == "sliced" || stride == "any" && slices.Contains([]string{"sliced", "stepped", "transposed"}, layout)
}

// seenInPlace calls with the kernel that only looks, with given outputs where there can be such.
func (t *T) seenInPlace(c *Case) error {
	call, err := t.call(t.Caller, c)
	if err != nil {
		return err
	}
	if call.Out == nil && outputsGiven(t.Op, t.Caller) == nil {
		if call.Out, err = poisoned(c, false); err != nil {
			return err
		}
	}
	result, err := t.watched("pointers", call, c.Name, nil)
	if err != nil {
		return err
	}
	if result.Error != nil {
		t.Fail(call, c.Name, "raised %s\n%s", result.Error, result.Error.Trace)
		return nil
	}
	seen, inputs, outputs := addresses(result.Notes["seen"]), addresses(result.Notes["inputs"]), addresses(result.Notes["outputs"])
	if len(seen) < len(t.Op.Outputs)+len(t.Op.Inputs) {
		t.Fail(call, c.Name, "no kernel ran: the arrays that it would have got are unknown")
		return nil
	}
	for i, in := range t.Op.Inputs {
		if in.Mutated && !writesMemory(t.Caller) {
			continue // an array that nobody may write is copied first
		}
		if x, ok := call.Inputs[i].(*Tensor); ok && x.Len() > 0 && seen[len(t.Op.Outputs)+i] != inputs[i] {
			t.Fail(call, c.Name, "%s was copied: the kernel reads another place than the caller's array", in.Name)
		}
	}
	for k, i := range t.passedOutputs() {
		given := call.Out != nil && call.Out[i] != nil && call.Out[i].Len() > 0
		if given && k < len(outputs) && outputs[k] != seen[i] {
			t.Fail(call, c.Name, "%s was copied: the kernel writes another place than the given array", t.Op.Outputs[i].Name)
		}
	}
	return nil
}

// passedOutputs are the places, among the outputs, of those that a caller passes, in order.
func (t *T) passedOutputs() []int {
	if !isBare(t.Caller) {
		return returned(t.Op)
	}
	var all []int
	for i := range t.Op.Outputs {
		all = append(all, i)
	}
	return all
}

// addresses reads a list of numbers of a probe's notes; addresses have fewer bits than a float64 keeps.
func addresses(note any) []uint64 {
	list, _ := note.([]any)
	var out []uint64
	for _, v := range list {
		n, _ := v.(float64)
		out = append(out, uint64(n))
	}
	return out
}

// checkWarnings expects a deprecated op to say so once, in a warning that points at who called it, and any other op to warn
// of nothing.
func checkWarnings(t *T) error {
	c, err := t.wrongCase() // the right call that others spoil
	if err != nil {
		return err
	}
	call, err := t.call(t.Caller, c)
	if err != nil {
		return err
	}
	result, err := t.watched("warnings", call, c.Name, nil)
	if err != nil || t.succeeded(call, c.Name, result) == nil {
		return err
	}
	got := fmt.Sprint(result.Notes["warnings"])
	want := "[]"
	if t.Op.Deprecated != "" {
		want = fmt.Sprintf("[[DeprecationWarning %s is deprecated: %s true]]", t.Op.Name, t.Op.Deprecated)
	}
	if got != want {
		t.Fail(call, c.Name, "warnings with class, text and whether they point at the caller: got %s, want %s", got, want)
	}
	return nil
}
