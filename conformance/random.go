package conformance

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/ndarray"
	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/rule"
)

// randomCalls is how many random calls an op gets, unless the options say otherwise; one in a tenth has to reach a kernel.
const (
	randomCalls  = 2000
	reachedShare = 10
)

// Neighbouring random calls spoil one right call in different ways, since to make that takes longest; sizes and contents
// that turn out to be impossible are drawn again.
const (
	randomSiblings = 8
	randomTries    = 20
)

// callsFromGo holds for the caller that is cheap enough for many calls.
func callsFromGo(_ *opdef.Op, caller Caller) error {
	if caller.Name() != nativeName {
		return unsupported("random calls are made from Go")
	}
	return nil
}

// randomizer makes right calls of random sizes and spoils most of them in random ways: types, counts, sizes, memory. What
// the rules refuse has to raise the error that they tell; the rest has to compute; the process has to live.
type randomizer struct {
	t       *T
	program *rule.Program
	// refused says that only calls are drawn which the rules refuse: an author makes contents that kernels may rely on.
	refused bool
	choices []dtypes
	seed    uint64
	// plain is the right call number family, before it is spoilt.
	family int64
	plain  *Call
}

func newRandomizer(t *T, seed uint64) (*randomizer, error) {
	r := &randomizer{
		t: t, program: rule.Compile(t.Op), refused: samplesPattern.MatchString(t.Op.Module),
		choices: combinations(t.Op, t.env.device), seed: seed, family: -1,
	}
	if len(r.choices) == 0 {
		return nil, skip("no kernel for device %s", t.env.device)
	}
	return r, nil
}

// randomized is one random call.
type randomized struct {
	call *Call
	name string
	// right says that nothing is spoilt; else want is what the rules say, nil for nothing.
	right bool
	want  *rule.Fault
}

// draw makes the i-th call, which depends on nothing but the op, the seed and i, if there is one.
func (r *randomizer) draw(i int64) (one *randomized, found bool, err error) {
	if err := r.prepare(i / randomSiblings); r.plain == nil || err != nil {
		return nil, false, err
	}
	rng := r.rand("spoil", i)
	for range randomTries {
		one = &randomized{call: r.plain.clone(), name: fmt.Sprintf("random call %d of seed %d", i, r.seed)}
		switch rng.IntN(4) {
		case 0:
			one.right = true
		case 1:
			mangled(one.call, rng)
		default:
			for range 1 + rng.IntN(3) {
				spoil(one.call, rng)
			}
		}
		one.want = expect(r.program, one.call, r.t.Caller, r.t.env.device)
		if r.draws(one) {
			return one, true, nil
		}
	}
	return nil, false, nil
}

// draws reports whether a call is one to make. What is right but for its memory, which nobody can look at, is none.
func (r *randomizer) draws(one *randomized) bool {
	if r.refused {
		return one.want != nil && one.call.Probe == ""
	}
	return one.want != nil || backed(one.call)
}

func (r *randomizer) rand(what string, i int64) *rand.Rand {
	return ndarray.Rand(fmt.Sprintf("random/%s/%s/%d/%d", r.t.Op.Name, what, r.seed, i))
}

// prepare makes the right call that a family of random calls spoils.
func (r *randomizer) prepare(family int64) error {
	if r.family == family {
		return nil
	}
	r.family, r.plain = family, nil
	rng := r.rand("plan", family)
	for range randomTries {
		d := r.choices[rng.IntN(len(r.choices))]
		// Without the author's samples: the process that draws the same calls by itself cannot run them.
		c, err := newCase(r.t.Op, randomPlan(r.t.Op, d, rng, family))
		if err != nil {
			continue // the sizes do not fit the definition
		}
		r.plain, err = r.t.call(r.t.Caller, c)
		return err
	}
	return nil
}

// randomPlan has small random sizes, attrs and optional inputs.
func randomPlan(op *opdef.Op, d dtypes, rng *rand.Rand, i int64) plan {
	p := plan{name: fmt.Sprint("random ", i), dtypes: d, batch: []int64{}, sizes: map[string]int64{}, attrs: map[string]any{}}
	for range rng.IntN(3) {
		p.batch = append(p.batch, rng.Int64N(4))
	}
	for _, s := range symbols(op) {
		if list := candidates(op, s, 0); rng.IntN(2) == 0 {
			// Mostly small ones: what large arrays cost is better spent on more calls.
			p.sizes[s] = min(list[rng.IntN(len(list))], list[rng.IntN(len(list))], list[rng.IntN(len(list))])
		}
	}
	for k := range op.Attrs {
		if a := &op.Attrs[k]; a.Binds == "" && rng.IntN(3) == 0 {
			values := attrValues(op, a)
			p.attrs[a.Name] = values[rng.IntN(len(values))]
		}
	}
	for _, in := range op.Inputs {
		if in.Optional && rng.IntN(3) == 0 {
			p.without = append(p.without, in.Name)
		}
	}
	return p
}

// make makes the i-th call, judges what it did and counts it.
func (r *randomizer) make(i int64, tally *randomTally) error {
	one, found, err := r.draw(i)
	if err != nil || !found {
		return err
	}
	result, err := r.t.Call(one.call, one.name)
	if err != nil {
		return proceed(err)
	}
	tally.count(result)
	r.t.randomly(one.call, one.name, result, one.want)
	if one.right && result.Error == nil {
		r.t.guarded(one.call, one.name, result)
	}
	return nil
}

// randomly judges what a random call did.
func (t *T) randomly(call *Call, name string, result *Result, want *rule.Fault) {
	layout := layoutFault(t.Caller, call)
	switch e := result.Error; {
	case call.Probe != "":
		if e != nil && (!slices.Contains(refusals, e.Class) || !strings.HasPrefix(e.Text, t.Op.Name+": ")) {
			t.Fail(call, name, "raised %s: %s", e.Class, e.Text)
		}
	case e != nil && e.Class == "ValueError" && unlikeMemory(call, e.Text):
		// That such arrays exist at all is refused before the rules, which know no pointers.
	case lacksOutput(call) && e != nil && e.Class == "TypeError" && strings.HasPrefix(e.Text, t.Op.Name+": missing required argument"):
		// Of missing outputs the rules know nothing: only bare callers can leave them out.
	case layout != nil && (want == nil || e != nil && e.Class == layout.Class && e.Text == layout.Text):
		// Of two faults, which comes first depends on the places of the arguments.
		t.raised(call, name, result, layout)
	case want != nil:
		t.raised(call, name, result, want)
	case e != nil:
		t.Fail(call, name, "raised %s: %s", e.Class, e.Text)
	}
}

// unlikeMemory reports whether an error is rightly about an array that no memory can hold, which also lies over all others, or
// about one that has none.
func unlikeMemory(call *Call, text string) bool {
	return slices.ContainsFunc(call.tensors(), func(x *Tensor) bool {
		huge, empty := !affordable(x.Shape), slices.Contains(x.Shape, 0)
		return huge && (strings.Contains(text, "expected fewer elements than 2^63") || strings.HasSuffix(text, "got overlapping memory")) ||
			len(x.Data) == 0 && !empty && strings.HasSuffix(text, "expected data, got a null pointer")
	})
}

// affordable reports whether an array of a shape is small enough to be made.
func affordable(shape []int64) bool {
	n := int64(1)
	for _, size := range shape {
		if n *= size; size > maxElements || n > maxElements {
			return false
		}
	}
	return true
}

// lacksOutput reports whether an output is missing that always exists.
func lacksOutput(call *Call) bool {
	for i, o := range call.Op.Outputs {
		if call.Out[i] == nil && o.PresentIf == "" && !o.Saved {
			return true
		}
	}
	return false
}

// backed reports whether all arrays have the memory that their shapes ask for.
func backed(call *Call) bool {
	return !slices.ContainsFunc(call.tensors(), func(x *Tensor) bool {
		high := x.Offset
		for i, n := range x.Shape {
			if n > maxElements {
				return true
			}
			high += max((n-1)*x.Strides[i], 0)
		}
		return x.Len() > 0 && (high+1)*ndarray.ItemSize(x.DType) > int64(len(x.Data))
	})
}
