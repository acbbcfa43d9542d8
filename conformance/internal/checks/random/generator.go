package random

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/invalid"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/rule"
)

// CallsPerOp is how many random calls an op gets, unless the options say otherwise; one in a tenth has to reach a kernel.
const (
	CallsPerOp   = 2000
	reachedShare = 10
)

// Neighbouring random calls spoil one valid call in different ways, since to make that takes longest; sizes and contents
// that turn out to be impossible are drawn again.
const (
	randomSiblings = 8
	randomTries    = 20
)

// callsFromGo holds for the caller that is cheap enough for many calls.
func callsFromGo(_ *opdef.Op, caller calls.Caller) error {
	if caller.Name() != calls.NativeName {
		return check.Unsupported("random calls are made from Go")
	}
	return nil
}

// Generator makes valid calls of random sizes and spoils most of them in random ways: types, counts, sizes, memory. What
// the rules refuse has to raise the error that they tell; the rest has to compute; the process has to live.
type Generator struct {
	T       *check.T
	program *rule.Program
	// onlyInvalid says that only calls are drawn which the rules refuse: an author makes contents that kernels may rely on.
	onlyInvalid bool
	choices     []cases.DTypes
	Seed        uint64
	// plain is the valid call number family, before it is spoilt.
	family int64
	valid  *calls.Call
}

// NewGenerator returns the generator of the calls of one op.
func NewGenerator(t *check.T, seed uint64) (*Generator, error) {
	r := &Generator{
		T: t, program: rule.Compile(t.Op), onlyInvalid: t.Op.Defines("samples"),
		choices: cases.SupportedDTypes(t.Op, t.Env.Device), Seed: seed, family: -1,
	}
	if len(r.choices) == 0 {
		return nil, check.Skip("no kernel for device %s", t.Env.Device)
	}
	return r, nil
}

// randomized is one random call.
type randomized struct {
	Call *calls.Call
	name string
	// valid says that nothing is spoilt; else want is what the rules say, nil for nothing.
	valid    bool
	Expected *rule.Error
}

// Draw makes the i-th call, which depends on nothing but the op, the seed and i, if there is one.
func (r *Generator) Draw(i int64) (one *randomized, found bool, err error) {
	if err := r.prepare(i / randomSiblings); r.valid == nil || err != nil {
		return nil, false, err
	}
	rng := r.rand("spoil", i)
	for range randomTries {
		one = &randomized{Call: r.valid.Clone(), name: fmt.Sprintf("random call %d of seed %d", i, r.Seed)}
		switch rng.IntN(4) {
		case 0:
			one.valid = true
		case 1:
			corrupt(one.Call, rng)
		default:
			for range 1 + rng.IntN(3) {
				invalidate(one.Call, rng)
			}
		}
		one.Expected = invalid.ExpectedError(r.program, one.Call, r.T.Caller, r.T.Env.Device)
		if r.accepts(one) {
			return one, true, nil
		}
	}
	return nil, false, nil
}

// accepts reports whether a call is one to make. What is right but for its memory, which nobody can look at, is none, nor
// what is right but for its contents, on which kernels rely.
func (r *Generator) accepts(one *randomized) bool {
	if r.onlyInvalid {
		return one.Expected != nil && one.Call.Probe == ""
	}
	if one.Expected != nil {
		return true
	}
	seen := one.Call
	if seen.Probe != "" {
		if seen = corrupted(seen); seen == nil || invalid.ExpectedError(r.program, seen, r.T.Caller, r.T.Env.Device) != nil {
			return true
		}
	}
	return hasMemory(seen) && invalid.ContentsFit(r.program, seen, r.T.Caller, r.T.Env.Device)
}

func (r *Generator) rand(what string, i int64) *rand.Rand {
	return ndarray.Rand(fmt.Sprintf("random/%s/%s/%d/%d", r.T.Op.Name, what, r.Seed, i))
}

// prepare makes the valid call that a family of random calls spoils.
func (r *Generator) prepare(family int64) error {
	if r.family == family {
		return nil
	}
	r.family, r.valid = family, nil
	rng := r.rand("plan", family)
	for range randomTries {
		d := r.choices[rng.IntN(len(r.choices))]
		// Without the author's samples: the process that draws the same calls by itself cannot run them.
		c, err := cases.New(r.T.Op, randomPlan(r.T.Op, d, rng, family))
		if err != nil {
			continue // the sizes do not fit the definition
		}
		r.valid, err = r.T.PlainCall(r.T.Caller, c)
		return err
	}
	return nil
}

// randomPlan has small random sizes, attrs and optional inputs.
func randomPlan(op *opdef.Op, d cases.DTypes, rng *rand.Rand, i int64) cases.Plan {
	p := cases.Plan{Name: fmt.Sprint("random ", i), DTypes: d, Batch: []int64{}, Sizes: map[string]int64{}, Attrs: map[string]any{}}
	for range rng.IntN(3) {
		p.Batch = append(p.Batch, rng.Int64N(4))
	}
	p.Shift = rng.IntN(3)
	for _, s := range cases.Symbols(op) {
		if list := cases.Candidates(op, s, 0); rng.IntN(2) == 0 {
			// Mostly small ones: what large arrays cost is better spent on more calls.
			p.Sizes[s] = min(list[rng.IntN(len(list))], list[rng.IntN(len(list))], list[rng.IntN(len(list))])
		}
	}
	for k := range op.Attrs {
		if a := &op.Attrs[k]; a.Binds == "" && rng.IntN(3) == 0 {
			values := cases.AttrValues(op, a)
			p.Attrs[a.Name] = values[rng.IntN(len(values))]
		}
	}
	for _, in := range op.Inputs {
		if in.Optional && rng.IntN(3) == 0 {
			p.Without = append(p.Without, in.Name)
		}
	}
	return p
}

// Make makes the i-th call, judges what it did and counts it.
func (r *Generator) Make(i int64, tally *calls.RandomTally) error {
	one, found, err := r.Draw(i)
	if err != nil || !found {
		return err
	}
	result, err := r.T.Call(one.Call, one.name)
	if err != nil {
		return check.Proceed(err)
	}
	tally.Count(result)
	JudgeRandomCall(r.T, one.Call, one.name, result, one.Expected)
	if one.valid && result.Error == nil {
		r.T.ExpectOutputGuards(one.Call, one.name, result)
	}
	return nil
}

// JudgeRandomCall judges what a random call did.
func JudgeRandomCall(t *check.T, call *calls.Call, name string, result *calls.Result, want *rule.Error) {
	switch e := result.Error; {
	case call.Probe != "":
		if e != nil && (!slices.Contains(invalid.ErrorClasses, e.Class) || !strings.HasPrefix(e.Text, t.Op.Name+": ")) {
			t.Fail(call, name, "raised %s: %s", e.Class, e.Text)
		}
	case e != nil && e.Class == "ValueError" && isMemoryError(call, e.Text):
		// That such arrays exist at all is refused before the rules, which know no pointers.
	case lacksOutput(call) && e != nil && e.Class == "TypeError" && strings.HasPrefix(e.Text, t.Op.Name+": missing required argument"):
		// Of missing outputs the rules know nothing: only bare callers can leave them out.
	case t.Misplaced(t.Caller, e) != "":
	case want != nil:
		t.ExpectError(call, name, result, want)
	case e != nil:
		t.Fail(call, name, "raised %s: %s", e.Class, e.Text)
	}
}

// isMemoryError reports whether an error is rightly about an array that no memory can hold, which also lies over all
// others, or about one that has none.
func isMemoryError(call *calls.Call, text string) bool {
	return slices.ContainsFunc(call.Tensors(), func(x *calls.Tensor) bool {
		huge, empty := !affordable(x), slices.Contains(x.Shape, 0)
		return huge && (strings.Contains(text, "expected fewer elements than 2^63") || strings.HasSuffix(text, "got overlapping memory")) ||
			len(x.Data) == 0 && !empty && strings.HasSuffix(text, "expected data, got a null pointer")
	})
}

// affordable reports whether an array is small enough to be made: no larger than those of samples, or than the memory that
// it has, since scratch may be large whatever the sizes of the inputs are.
func affordable(x *calls.Tensor) bool {
	n, most := int64(1), max(cases.MaxElements, int64(len(x.Data)))
	for _, size := range x.Shape {
		if n *= size; size > most || n > most {
			return false
		}
	}
	return true
}

// lacksOutput reports whether an output is missing that always exists.
func lacksOutput(call *calls.Call) bool {
	for i, o := range call.Op.Outputs {
		if call.Out[i] == nil && o.PresentIf == "" && !o.Saved {
			return true
		}
	}
	return false
}

// hasMemory reports whether all arrays have the memory that their shapes ask for.
func hasMemory(call *calls.Call) bool {
	return !slices.ContainsFunc(call.Tensors(), func(x *calls.Tensor) bool {
		if !affordable(x) {
			return true
		}
		high := x.Offset
		for i, n := range x.Shape {
			high += max((n-1)*x.Strides[i], 0)
		}
		return x.Len() > 0 && (high+1)*ndarray.ItemSize(x.DType) > int64(len(x.Data))
	})
}
