package conformance

import (
	"slices"
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/rule"
)

// ragged sums the rows of each sequence; round is applied to every intermediate result.
func ragged(c *Case, x, scale, indptr []float64, round func(float64) float64) []float64 {
	n := int(c.Sizes["N"])
	y := make([]float64, int(c.Sizes["B"])*n)
	for i := range int(c.Sizes["B"]) {
		for row := int(indptr[i]); row < int(indptr[i+1]); row++ {
			for k := range n {
				y[i*n+k] = round(y[i*n+k] + round(x[row*n+k]*scale[row]))
			}
		}
	}
	return y
}

// raggedSizes are the sizes of a call of the ragged toy.
func raggedSizes(c *Case) {
	c.Batch = nil
	c.Sizes["R"], c.Sizes["N"] = c.Inputs[0].Shape[0], c.Inputs[0].Shape[1]
	c.Sizes["B"] = c.Inputs[2].Shape[0] - 1
}

// variantFault is the error of a kernel that is forced to take a call, or of the first one that takes it.
func variantFault(call *Call, bare bool) *rule.Fault {
	if len(call.Op.Kernels) == 0 {
		return nil
	}
	c := caseOf(call)
	for _, k := range kernelsOn(call.Op, "cpu") {
		reason := "needs T to be float16"
		if takes(&opdef.Kernel{DTypes: k.DTypes}, c.DTypes) {
			reason = "needs "
			if k.When != nil {
				reason += k.When.Text
			}
		}
		switch fits := c.taken(&k); {
		case call.Kernel != "" && call.Kernel != k.Name:
		case call.Kernel == k.Name && fits == no:
			text := call.Op.Name + ": no kernel takes this call on cpu: " + k.Name + ": " + reason
			return &rule.Fault{Class: "NotImplementedError", Text: text}
		case fits == yes && k.Scratch && bare:
			return scratchFault(call, c)
		case fits == yes:
			return nil
		}
	}
	return nil
}

func scratchFault(call *Call, c *Case) *rule.Fault {
	arrays, err := c.scratch()
	for i, a := range arrays {
		if err == nil && (call.Scratch == nil || call.Scratch[i] == nil) {
			text := call.Op.Name + ": " + call.Op.Scratch[i].Name + ": expected a scratch array " + a.DType.Long + list(a.Shape) + ", got None"
			return &rule.Fault{Class: "ValueError", Text: text}
		}
	}
	return nil
}

// wrongWhen spoils the results of the calls that a test accepts, by more than the tolerance of a sum.
func wrongWhen(test func(c *Call) bool) func(*Call, *Result) {
	return func(c *Call, r *Result) {
		if r.Error == nil && test(c) && r.Outputs[0].Len() > 0 {
			put(&r.Outputs[0], 1e3)
		}
	}
}

func forcedTo(name string) func(*Call, *Result) {
	return wrongWhen(func(c *Call) bool { return c.Kernel == name })
}

// plantedVariants are mutants of ragged rows, scratch and dispatch: each check named must fail.
var plantedVariants = map[string]struct {
	checks string
	fake   fake
}{
	"one kernel is off":         {"value", fake{after: forcedTo("wide")}},
	"a tail kernel is off":      {"value", fake{after: forcedTo("narrow")}},
	"dispatch runs another":     {"variants", fake{after: wrongWhen(func(c *Call) bool { return c.Kernel == "" })}},
	"a condition is forgotten":  {"variants", fake{before: takeAll}},
	"a reason is lost":          {"variants", fake{after: speechless}},
	"a reason is another":       {"variants", fake{after: onRefusal(func(e *CallError) { e.Text = strings.Replace(e.Text, "N %", "M %", 1) })}},
	"a kernel refuses all":      {"value", fake{after: refuseAll("plain", "needs luck")}},
	"empty sequences are off":   {"contents", fake{after: wrongWhen(func(c *Call) bool { return allEqual(c.Inputs[2]) })}},
	"the last row is forgotten": {"contents", fake{after: wrongWhen(func(c *Call) bool { return atEnd(c) })}},
	"scratch is not zeroed":     {"scratch", fake{after: wrongWhen(func(c *Call) bool { return c.Scratch != nil && guardedByte(c.Scratch[1]) == 0x3f })}},
	"scratch is read":           {"scratch", fake{after: wrongWhen(func(c *Call) bool { return c.Scratch != nil && guardedByte(c.Scratch[0]) == 0 })}},
	"scratch overflows":         {"scratch", fake{after: overflow}},
	"scratch is always needed":  {"scratch", fake{before: demandScratch}},
	"missing scratch passes":    {"scratch", fake{before: scratchless}},
	"wrong scratch passes":      {"errors", fake{before: ignoreScratch}},
	"refused scratch is used":   {"side-effects", fake{after: onRefusedScratch}},
}

func TestPlantedVariantsAreFound(t *testing.T) {
	for name, fault := range plantedVariants {
		t.Run(name, func(t *testing.T) {
			for id := range strings.FieldsSeq(fault.checks) {
				caller := fault.fake
				caller.name = backendName
				if status := fakeRunOf(t, "ragged", id, &caller, nil); !strings.Contains(status, "fail: ") {
					t.Errorf("%s: %s", id, status)
				}
			}
		})
	}
}

// takeAll runs a forced kernel whatever its condition says.
func takeAll(call *Call) (*Result, error) {
	if call.Kernel == "" {
		return nil, nil
	}
	free := call.clone()
	free.Kernel = ""
	return (&fake{name: backendName}).answer(free), nil
}

func onRefusal(change func(*CallError)) func(*Call, *Result) {
	return func(_ *Call, r *Result) {
		if r.Error != nil && r.Error.Class == "NotImplementedError" {
			change(r.Error)
		}
	}
}

func speechless(call *Call, r *Result) {
	onRefusal(func(e *CallError) { e.Text = call.Op.Name + ": no kernel" })(call, r)
}

// refuseAll has one kernel take no call at all.
func refuseAll(kernel, reason string) func(*Call, *Result) {
	return func(call *Call, r *Result) {
		if call.Kernel == kernel && r.Error == nil {
			*r = Result{Error: &CallError{
				Class: "NotImplementedError", Text: call.Op.Name + ": no kernel takes this call on cpu: " + kernel + ": " + reason,
			}}
		}
	}
}

func allEqual(v any) bool {
	x, ok := v.(*Tensor)
	return ok && len(slices.Compact(x.Floats())) == 1
}

// atEnd reports whether the last sequence ends with the last row.
func atEnd(c *Call) bool {
	ends, ok := c.Inputs[2].(*Tensor)
	if !ok || ends.Len() < 2 {
		return false
	}
	values := ends.Floats()
	rows := float64(c.Inputs[0].(*Tensor).Shape[0])
	return values[0] == 0 && values[len(values)-1] == rows && !allEqual(ends)
}

// guardedByte is the first byte of the elements of an array with guards; -1 where there is none.
func guardedByte(x *Tensor) int {
	if x == nil || x.Len() == 0 {
		return -1
	}
	return int(x.Bytes()[0])
}

// overflow writes behind the scratch.
func overflow(call *Call, r *Result) {
	if r.Error == nil && call.Scratch != nil {
		memory := r.Buffers[call.number(call.Scratch[1])]
		memory[len(memory)-1] ^= 1
	}
}

func demandScratch(call *Call) (*Result, error) {
	if call.Scratch != nil {
		return nil, nil
	}
	return &Result{Error: &CallError{Class: "ValueError", Text: "ragged: part: expected a scratch array, got None"}}, nil
}

// scratchless computes although scratch is missing.
func scratchless(call *Call) (*Result, error) {
	i := slices.Index(call.Scratch, nil)
	if i < 0 {
		return nil, nil
	}
	whole := call.clone()
	made, err := garbage(caseOf(call), 0)
	if err != nil {
		return nil, err
	}
	whole.Scratch[i] = made[i]
	return (&fake{name: backendName}).answer(whole), nil
}

// ignoreScratch never looks at scratch.
func ignoreScratch(call *Call) (*Result, error) {
	blind := call.clone()
	blind.Scratch = nil
	if fault := expect(rule.Compile(call.Op), blind, &fake{name: backendName}, "cpu"); fault != nil || call.Scratch == nil {
		return nil, nil
	}
	r := &Result{Outputs: make([]Output, 1)}
	for _, t := range call.tensors() {
		r.Buffers = append(r.Buffers, t.Data)
	}
	return r, nil
}

func onRefusedScratch(call *Call, r *Result) {
	if r.Error != nil && strings.Contains(r.Error.Text, ": part: ") {
		for i, x := range call.tensors() {
			if slices.Contains(call.Scratch, x) && len(r.Buffers[i]) > 0 {
				r.Buffers[i][0] ^= 1
			}
		}
	}
}
