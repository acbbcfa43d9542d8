package random

import (
	"errors"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
)

// The numbers of random calls of an op: through the library's own callers, through an adaptor, and through one that compiles
// each of them. Another profile makes more of all.
const (
	shapesBare     = 100
	shapesAdaptor  = 10
	shapesCompiled = 4
	shapesMore     = 20
)

// ShapesElements bounds the arrays of a random call: many calls say more than large ones.
const ShapesElements = 1 << 13

// maxBatch is the largest number of leading dims of a random call.
const maxBatch = 4

// adversarialSizes are those at which tiles, vectors, blocks and counters end: one less, exactly, one more.
var adversarialSizes = []int64{
	15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 512, 513, 1023, 1024, 1025, 4095, 4097,
}

// checkRandomShapes calls with random dtypes, kernels, ranks, sizes, attrs, layouts and optional inputs. A call that fails
// is shrunk to a small one, which is reported.
func checkRandomShapes(factor int) func(t *check.T) error {
	return func(t *check.T) error {
		count := shapesAdaptor * factor
		switch {
		case calls.IsBare(t.Caller):
			count = shapesBare * factor
		case slices.Contains(calls.AbilitiesOf(t.Caller).Modes, "jit"):
			count = shapesCompiled * factor
		}
		t.CurrentRow().Seed = strconv.FormatUint(t.Env.Seed, 10)
		var last *candidate
		var said []string
		var broke error
		// All callers draw the same calls, so that the reference is evaluated once.
		found, err := Falsify(fmt.Sprintf("%d/%s", t.Env.Seed, t.Op.Name), count, func(from *Choices) (holds, valid bool) {
			s := DrawCandidate(t, from)
			if s == nil || broke != nil {
				return true, false
			}
			failures, done, err := tryUnreported(t, s)
			if err != nil {
				broke = err
			}
			if len(failures) > 0 {
				last, said = s, failures
			}
			return len(failures) == 0, done
		})
		if err := errors.Join(err, broke); err != nil {
			return fmt.Errorf("random shapes: %w", err)
		}
		t.CurrentRow().Checked += found.Tried
		if found.Failed {
			reportSmallest(t, last, said)
		}
		return nil
	}
}

// reportSmallest makes the smallest failing call again, for the report. One that does not fail again, such as for a race, is told
// as it failed before.
func reportSmallest(t *check.T, s *candidate, said []string) {
	row := t.CurrentRow()
	row.Kernel, row.DTypes = s.kernel, s.C.DTypes.String()
	before := len(row.Failures)
	if err := check.Proceed(tryCase(t.With(s.kernel), s.C)); err != nil {
		t.Fail(nil, s.C.Name, "%v", err)
	} else if len(row.Failures) == before {
		t.Fail(nil, s.C.Name, "failed before, and not when it was repeated: %s", strings.Join(said, "\n"))
	}
}

// candidate is one random call and the kernel that has to take it.
type candidate struct {
	kernel string
	C      *cases.Case
}

// tryUnreported makes a call on a copy, whose failures are returned and not reported. Done is false if the call could
// not be made.
func tryUnreported(t *check.T, s *candidate) (failures []string, done bool, err error) {
	other := &check.T{Ctx: t.Ctx, Env: t.Env, Op: t.Op, Caller: t.Caller, Exploring: true}
	other.StartRow(s.kernel, "")
	err = check.Proceed(tryCase(other, s.C))
	made := other.CurrentRow()
	return made.Failures, made.Checked > 0 || len(made.Failures) > 0, err
}

// tryCase makes one call and judges all of it: error or results, launches, and what became of the memory.
func tryCase(t *check.T, c *cases.Case) error {
	call, err := t.PlainCall(t.Caller, c)
	if err != nil {
		return err
	}
	result, err := t.Call(call, c.Name)
	if err != nil {
		return err
	}
	if expected := t.ExpectedError(call); expected != nil {
		t.ExpectError(call, c.Name, result, expected)
		return nil
	}
	if result = t.ExpectSuccess(call, c.Name, result); result == nil || !t.ExpectMetadata(call, c.Name, c, result) {
		return nil
	}
	t.ExpectLaunchOfKernel(call, c, result)
	t.ExpectOverwritten(call, c.Name, result)
	t.ExpectInputsUnchanged(call, c.Name, result)
	return t.ExpectReference(call, c, result)
}

// DrawCandidate draws a call; nil if the definition has none like it.
func DrawCandidate(t *check.T, from *Choices) *candidate {
	d := oneOf(from, cases.SupportedDTypes(t.Op, t.Env.Device))
	s := &candidate{kernel: oneOf(from, cases.KernelsFor(t.Op, t.Env.Device, d))}
	p := cases.Plan{Name: "random shapes", DTypes: d, Attrs: map[string]any{}, Sizes: map[string]int64{}, Largest: ShapesElements}
	if t.Op.HasBatch() {
		rank := from.UpTo(maxBatch)
		for range maxBatch {
			p.Batch = append(p.Batch, drawSize(from))
		}
		p.Batch = p.Batch[:rank]
	}
	p.Leads = drawLeads(from, t.Op, p.Batch)
	for _, in := range t.Op.Inputs {
		if in.Optional && from.yes() {
			p.Without = append(p.Without, in.Name)
		}
	}
	for i := range t.Op.Attrs {
		if v := drawAttr(from, t.Op, &t.Op.Attrs[i]); v != nil {
			p.Attrs[t.Op.Attrs[i].Name] = v
		}
	}
	names := cases.Symbols(t.Op)
	for _, name := range names {
		p.Sizes[name] = drawSize(from, cases.SampleSizes(t.Op, name)...)
	}
	if s.C = nearestCase(t.With(s.kernel), p, names); s.C == nil {
		return nil
	}
	for i := range s.C.Inputs {
		s.C = layOut(from, s.C, i)
	}
	return s
}

// drawLeads draws which dims inputs that are broadcast lack, and which of theirs are 1.
func drawLeads(from *Choices, op *opdef.Op, batch []int64) map[string][]int64 {
	out := map[string][]int64{}
	for _, in := range op.Inputs {
		if in.Type.Lead() != opdef.Broadcast {
			continue
		}
		lacks, ones := from.UpTo(maxBatch), from.UpTo(1<<maxBatch-1)
		lead := slices.Clone(batch[min(int(lacks), len(batch)):])
		for i := range lead {
			if ones>>i&1 == 1 {
				lead[i] = 1
			}
		}
		out[in.Name] = lead
	}
	return out
}

// nearestCase is a call with as many of the sizes, leading dims and attrs of a plan as the definition allows together; nil if
// it has none with any of them.
func nearestCase(t *check.T, p cases.Plan, names []string) *cases.Case {
	for {
		for n := len(names); n >= 0; n-- {
			tried := p
			tried.Sizes = maps.Clone(p.Sizes)
			for _, name := range names[n:] {
				delete(tried.Sizes, name)
			}
			if c, err := t.NewCase(tried); err == nil {
				return c
			}
		}
		switch {
		case len(p.Batch) > 0:
			p.Batch, p.Leads = p.Batch[1:], nil
		case len(p.Attrs) > 0:
			p.Attrs = nil
		default:
			return nil
		}
	}
}

// drawSize draws sizes of all magnitudes, some of them rounded down to where a tile ends, or to a preferred one. What is
// drawn is never less than the size, so that lower choices lead to small sizes.
func drawSize(from *Choices, preferred ...int64) int64 {
	last := adversarialSizes[len(adversarialSizes)-1]
	n := from.UpTo(min(1<<from.UpTo(int64(bits.Len64(uint64(last)))), last))
	switch from.UpTo(3) {
	case 3:
		return roundedDown(n, slices.Sorted(slices.Values(preferred)))
	case 2:
		return roundedDown(n, adversarialSizes)
	}
	return n
}

// roundedDown is the largest of sorted sizes that is not above n; n if all are.
func roundedDown(n int64, sizes []int64) int64 {
	i, found := slices.BinarySearch(sizes, n)
	if found || i == 0 {
		return n
	}
	return sizes[i-1]
}

// drawAttr draws a value from the declared range; nil leaves the attr out, where that is possible.
func drawAttr(from *Choices, op *opdef.Op, a *opdef.Attr) any {
	if a.Binds != "" {
		return nil
	}
	given := from.yes() || !a.HasDefault
	values := slices.Concat(cases.AttrValues(op, a), cases.RangeValues(op, a))
	low, hasLow := cases.ToFloat(a.Min)
	high, hasHigh := cases.ToFloat(a.Max)
	switch {
	case !hasLow && !hasHigh:
		low, high = 0, 4
	case !hasLow:
		low = high - 4
	case !hasHigh:
		high = low + 4
	}
	steps := from.UpTo(16)
	switch {
	case len(a.Among) > 0: // which are all that there are
	case a.Type == "float": // quarters, which every dtype has
		values = append(values, min(low+float64(steps)/4, high))
	case a.Type == "int":
		values = append(values, min(int64(low)+steps, int64(high)))
	}
	if v := oneOf(from, values); given {
		return v
	}
	return nil
}

// layOut gives an input a layout, or leaves it dense.
func layOut(from *Choices, c *cases.Case, i int) *cases.Case {
	at := from.UpTo(2 * int64(len(ndarray.Layouts)))
	if at == 0 || at > int64(len(ndarray.Layouts)) || c.Inputs[i] == nil {
		return c
	}
	layout := ndarray.Layouts[at-1]
	if view := c.LaidOut(i, layout); view != nil {
		return c.With(i, view, c.Op.Inputs[i].Name+" "+layout.Name)
	}
	return c
}
