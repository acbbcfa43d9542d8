package memory

import (
	"slices"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/internal/language/ndarray"
)

var notCopiedCheck = check.Check{
	ID: "not-copied", Group: check.GroupStrides, Generated: true,
	Doc:     "arrays that a kernel may use as they lie are not copied: the kernel sees the caller's addresses",
	Through: check.ThroughAdaptors, Needs: check.HasWatchProbe(check.GroupWatch, "pointers", nil), Foreign: check.AboutGenerated,
	Run: check.WithFewerDTypes(checkNotCopied),
}

// checkNotCopied holds the addresses that a kernel sees against those of the caller's arrays: dense inputs, those whose
// strides the definition allows, overwritten ones and given outputs are never copied.
func checkNotCopied(t *check.T) error {
	return t.EachCase(cases.BaseOnly, func(c *cases.Case) error {
		if err := check.Proceed(expectAddresses(t, c)); err != nil {
			return err
		}
		for i, in := range t.Op.Inputs {
			for _, layout := range ndarray.Layouts {
				if c.Inputs[i] == nil || !takesLayout(in.Stride, layout.Name) {
					continue
				}
				if view := layout.Apply(c.Inputs[i]); view != nil {
					if err := check.Proceed(expectAddresses(t, c.With(i, view, in.Name+" "+layout.Name))); err != nil {
						return err
					}
				}
			}
		}
		return nil
	})
}

// takesLayout reports whether a kernel takes a layout as it is. Views whose first element is not their lowest address
// are left out: the addresses that are compared are the lowest ones.
func takesLayout(stride, layout string) bool {
	return stride == "last" && layout == "sliced" || stride == "any" && slices.Contains([]string{"sliced", "stepped", "transposed"}, layout)
}

// expectAddresses calls with the kernel that only looks, with given outputs where there can be such.
func expectAddresses(t *check.T, c *cases.Case) error {
	if c.Empty() {
		return t.Inexpressible("a call that writes nothing runs no kernel")
	}
	call, err := t.PlainCall(t.Caller, c)
	if err != nil {
		return err
	}
	if call.Out == nil && check.OutputsGiven(t.Op, t.Caller) == nil {
		if call.Out, err = calls.PoisonedOutputs(c, false); err != nil {
			return err
		}
	}
	result, err := t.CallWatched("pointers", call, c.Name, nil)
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
		if in.Mutated && !calls.WritesMemory(t.Caller) || t.Op.Alignment(&in) > 1 {
			continue // an array that nobody may write is copied first, and one that lies where no kernel takes it
		}
		if x, ok := call.Inputs[i].(*calls.Tensor); ok && x.Len() > 0 && seen[len(t.Op.Outputs)+i] != inputs[i] {
			t.Fail(call, c.Name, "%s was copied: the kernel reads another place than the caller's array", in.Name)
		}
	}
	for k, i := range passedOutputs(t) {
		given := call.Out != nil && call.Out[i] != nil && call.Out[i].Len() > 0
		if given && k < len(outputs) && outputs[k] != seen[i] {
			t.Fail(call, c.Name, "%s was copied: the kernel writes another place than the given array", t.Op.Outputs[i].Name)
		}
	}
	return nil
}

// passedOutputs are the places, among the outputs, of those that a caller passes, in order.
func passedOutputs(t *check.T) []int {
	if !calls.IsBare(t.Caller) {
		return cases.PublicOutputs(t.Op)
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
