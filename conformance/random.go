package conformance

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/dtype"
	"github.com/opcast/opcast/internal/ndarray"
	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/rule"
)

// randomCalls is how many random calls an op gets, unless the options say otherwise; one in a tenth has to reach a kernel.
const (
	randomCalls  = 200
	reachedShare = 10
)

// callsFromGo holds for the caller that is cheap enough for many calls.
func callsFromGo(_ *opdef.Op, caller Caller) error {
	if caller.Name() != nativeName {
		return unsupported("random calls are made from Go")
	}
	return nil
}

// checkRandom makes right calls of random sizes and spoils most of them in random ways: types, counts, sizes, memory. What
// the rules refuse has to raise the error that they tell; the rest has to compute; the process has to live.
func checkRandom(t *T) error {
	rng := ndarray.Rand("random/" + t.Op.Name)
	program, reached := rule.Compile(t.Op), int64(0)
	choices := combinations(t.Op, t.env.device)
	if len(choices) == 0 {
		return skip("no kernel for device %s", t.env.device)
	}
	count := t.env.random
	for i := range count {
		d := choices[rng.IntN(len(choices))]
		c, err := newCase(t.Op, randomPlan(t.Op, d, rng, i))
		if err != nil {
			continue // the sizes do not fit the definition
		}
		call, err := t.call(t.Caller, c)
		if err != nil {
			return err
		}
		name := fmt.Sprintf("random call %d", i)
		launches, err := t.randomCall(program, call, name, rng)
		if err != nil {
			return err
		}
		reached += launches
	}
	if reached*reachedShare < int64(count) {
		t.Fail(nil, "random calls", "%d of %d reach a kernel, want a tenth", reached, count)
	}
	return nil
}

// randomPlan has small random sizes, attrs and optional inputs.
func randomPlan(op *opdef.Op, d dtypes, rng *rand.Rand, i int) plan {
	p := plan{name: fmt.Sprint("random ", i), dtypes: d, batch: []int64{}, sizes: map[string]int64{}, attrs: map[string]any{}}
	for range rng.IntN(3) {
		p.batch = append(p.batch, rng.Int64N(4))
	}
	for _, s := range symbols(op) {
		if rng.IntN(2) == 0 {
			p.sizes[s] = candidates(op, s, 0)[rng.IntN(len(candidates(op, s, 0)))]
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

// randomCall makes one call, spoiled or not, and returns how many kernels it started.
func (t *T) randomCall(program *rule.Program, call *Call, name string, rng *rand.Rand) (int64, error) {
	spoilt, way := call.clone(), rng.IntN(4)
	switch way {
	case 0:
	case 1:
		mangled(spoilt, rng)
	default:
		for range 1 + rng.IntN(3) {
			spoil(spoilt, rng)
		}
	}
	want := expect(program, spoilt, t.Caller, t.env.device)
	if want == nil && !backed(spoilt) {
		return 0, nil // right but for its memory, which nobody can look at
	}
	result, err := t.Call(spoilt, name)
	if err != nil || result == nil {
		return 0, err
	}
	t.randomly(spoilt, name, result, want)
	if way == 0 && result.Error == nil {
		t.guarded(spoilt, name, result)
	}
	return result.Launches, nil
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
	case layout != nil && e != nil && e.Class == layout.Class && (e.Text == layout.Text || want != nil):
		// Two faults: which comes first depends on the places of the arguments.
	case want != nil:
		t.raised(call, name, result, want)
	case e != nil:
		t.Fail(call, name, "raised %s: %s", e.Class, e.Text)
	}
}

// unlikeMemory reports whether an error is rightly about an array that no memory can hold, or that has none.
func unlikeMemory(call *Call, text string) bool {
	return slices.ContainsFunc(call.tensors(), func(x *Tensor) bool {
		huge, empty := !affordable(x.Shape), slices.Contains(x.Shape, 0)
		return huge && strings.Contains(text, "expected fewer elements than 2^63") ||
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

// mangled has the process that calls pass something that no array of ours can be.
func mangled(call *Call, rng *rand.Rand) {
	ways := append(slices.Sorted(maps.Keys(others)), mangleNull, mangleNegative, mangleMissing, mangleTwice)
	call.Probe = groupMangled + "." + mangledCall
	call.Options = map[string]any{"at": rng.Int64N(64), "as": ways[rng.IntN(len(ways))]}
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

// spoil changes one argument of a call.
func spoil(call *Call, rng *rand.Rand) {
	i := rng.IntN(len(call.Inputs))
	x, isArray := call.Inputs[i].(*Tensor)
	if !isArray {
		call.Inputs[i] = &Tensor{Array: ndarray.New(lookup("f32"), []int64{2})}
		return
	}
	switch rng.IntN(9) {
	case 0:
		call.Inputs[i] = nil
	case 1:
		d := dtype.Table[rng.IntN(len(dtype.Table))]
		if d.Bits >= 8 && affordable(x.Shape) {
			call.Inputs[i] = &Tensor{Array: ndarray.New(d, x.Shape)}
		}
	case 2:
		call.Inputs[i] = &Tensor{Array: ndarray.New(x.DType, randomShape(rng))}
	case 3:
		call.Inputs[i] = resized(x, rng)
	case 4:
		if !affordable(x.Shape) || int64(len(x.Data)) < x.Len()*ndarray.ItemSize(x.DType) {
			return // there is nothing to lay out
		}
		if view := ndarray.Layouts[rng.IntN(len(ndarray.Layouts))].Apply(x.Array); view != nil {
			call.Inputs[i] = &Tensor{Array: view}
		}
	case 5:
		spoilMemory(call, i, rng)
	case 6, 7:
		spoilOutput(call, rng)
	default:
		spoilAttr(call, rng)
	}
}

func randomShape(rng *rand.Rand) []int64 {
	shape := []int64{}
	for range rng.IntN(5) {
		shape = append(shape, rng.Int64N(6))
	}
	return shape
}

// resized is an array over the same memory that claims another size, perhaps a huge one.
func resized(x *Tensor, rng *rand.Rand) *Tensor {
	if x.Rank() == 0 {
		return x
	}
	shape := slices.Clone(x.Shape)
	at := rng.IntN(len(shape))
	shape[at] = []int64{0, shape[at] + 1, max(shape[at]-1, 0), 1 << 40, 1<<62 - 1}[rng.IntN(5)]
	return &Tensor{Array: &ndarray.Array{DType: x.DType, Shape: shape, Strides: x.Strides, Offset: x.Offset, Data: x.Data}}
}

// spoilMemory puts an input into the memory of another argument.
func spoilMemory(call *Call, i int, rng *rand.Rand) {
	list := call.tensors()
	x, other := call.Inputs[i].(*Tensor), list[rng.IntN(len(list))]
	if other == x || !affordable(x.Shape) || int64(len(other.Data)) < x.Len()*ndarray.ItemSize(x.DType) || len(other.Data) == 0 {
		return
	}
	call.Inputs[i] = &Tensor{Array: &ndarray.Array{DType: x.DType, Shape: x.Shape, Strides: ndarray.DenseStrides(x.Shape), Data: other.Data}}
}

// spoilOutput changes an output array.
func spoilOutput(call *Call, rng *rand.Rand) {
	if len(call.Out) == 0 {
		return
	}
	i := rng.IntN(len(call.Out))
	o := call.Out[i]
	switch rng.IntN(4) {
	case 0:
		call.Out[i] = nil
	case 1:
		call.Out[i] = &Tensor{Array: ndarray.New(lookup("f32"), randomShape(rng))}
	case 2:
		if o != nil {
			call.Out[i] = resized(o, rng)
		}
	default:
		call.Out[i] = call.Out[rng.IntN(len(call.Out))]
	}
}

// spoilAttr gives an attr a value of a random type.
func spoilAttr(call *Call, rng *rand.Rand) {
	list := slices.DeleteFunc(slices.Clone(call.Op.Attrs), func(a opdef.Attr) bool { return a.Binds != "" })
	if len(list) == 0 {
		return
	}
	a := list[rng.IntN(len(list))]
	values := []any{int64(-1), int64(1) << 62, 1.5, -1e300, true, "nonsense"}
	v := values[rng.IntN(len(values))]
	if n, isInt := v.(int64); isInt && a.Len > 0 {
		v = slices.Repeat([]int64{n}, a.Len)
	}
	call.Attrs[a.Name] = v
}
