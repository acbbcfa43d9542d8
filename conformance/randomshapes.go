package conformance

import (
	"errors"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strconv"

	"github.com/opcast/opcast/internal/ndarray"
	"github.com/opcast/opcast/internal/opdef"
)

// The numbers of random calls of an op: through the library's own callers, through an adaptor, and through one that compiles
// each of them. Another profile makes more of all.
const (
	shapesBare     = 40
	shapesAdaptor  = 10
	shapesCompiled = 4
	shapesMore     = 20
)

// shapesElements bounds the arrays of a random call: many calls say more than large ones.
const shapesElements = 1 << 13

// maxBatch is the largest number of leading dims of a random call.
const maxBatch = 4

// adversarialSizes are those at which tiles, vectors, blocks and counters end: one less, exactly, one more.
var adversarialSizes = []int64{
	15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 512, 513, 1023, 1024, 1025, 4095, 4097,
}

// checkRandomShapes calls with random dtypes, kernels, ranks, sizes, attrs, layouts and optional inputs. A call that fails
// is shrunk to a small one, which is reported.
func checkRandomShapes(factor int) func(t *T) error {
	return func(t *T) error {
		count := shapesAdaptor * factor
		switch {
		case isBare(t.Caller):
			count = shapesBare * factor
		case slices.Contains(abilitiesOf(t.Caller).Modes, "jit"):
			count = shapesCompiled * factor
		}
		t.row().seed = strconv.FormatUint(t.env.seed, 10)
		var last *sketch
		var broke error
		// All callers draw the same calls, so that the reference is evaluated once.
		found, err := falsify(fmt.Sprintf("%d/%s", t.env.seed, t.Op.Name), count, func(from *choices) (holds, valid bool) {
			s := t.sketch(from)
			if s == nil || broke != nil {
				return true, false
			}
			failures, done, err := t.aside(s)
			if err != nil {
				broke = err
			}
			if len(failures) > 0 {
				last = s
			}
			return len(failures) == 0, done
		})
		if err := errors.Join(err, broke); err != nil {
			return fmt.Errorf("random shapes: %w", err)
		}
		t.row().done += found.tried
		if found.failed {
			t.reportSketch(last)
		}
		return nil
	}
}

// reportSketch makes the smallest failing call again, for the report.
func (t *T) reportSketch(s *sketch) {
	row := t.row()
	row.kernel, row.dtypes = s.kernel, s.c.DTypes.String()
	before := len(row.failures)
	if err := proceed(t.with(s.kernel).tried(s.c)); err != nil {
		t.Fail(nil, s.c.Name, "%v", err)
	} else if len(row.failures) == before {
		t.Fail(nil, s.c.Name, "failed before, and not when it was repeated")
	}
}

// sketch is one random call and the kernel that has to take it.
type sketch struct {
	kernel string
	c      *Case
}

// aside makes a call on a copy, whose failures are returned and not reported. Done is false if the call could not be made.
func (t *T) aside(s *sketch) (failures []string, done bool, err error) {
	other := &T{ctx: t.ctx, env: t.env, Op: t.Op, Caller: t.Caller, silent: true}
	other.Row(s.kernel, "")
	err = proceed(other.tried(s.c))
	made := other.row()
	return made.failures, made.done > 0 || len(made.failures) > 0, err
}

// tried makes one call and judges all of it: error or results, launches, and what became of the memory.
func (t *T) tried(c *Case) error {
	call, err := t.call(t.Caller, c)
	if err != nil {
		return err
	}
	result, err := t.Call(call, c.Name)
	if err != nil {
		return err
	}
	if fault := t.memoryFault(call); fault != nil {
		t.raised(call, c.Name, result, fault)
		return nil
	}
	if result = t.succeeded(call, c.Name, result); result == nil || !t.shaped(call, c.Name, c, result) {
		return nil
	}
	t.launched(call, c, result)
	t.written(call, c.Name, result)
	t.unchanged(call, c.Name, result)
	return t.matches(call, c, result)
}

// sketch draws a call; nil if the definition has none like it.
func (t *T) sketch(from *choices) *sketch {
	d := oneOf(from, combinations(t.Op, t.env.device))
	s := &sketch{kernel: oneOf(from, kernelsFor(t.Op, t.env.device, d))}
	p := plan{name: "random shapes", dtypes: d, attrs: map[string]any{}, sizes: map[string]int64{}, largest: shapesElements}
	if t.Op.HasBatch() {
		rank := from.upTo(maxBatch)
		for range maxBatch {
			p.batch = append(p.batch, drawSize(from))
		}
		p.batch = p.batch[:rank]
	}
	for _, in := range t.Op.Inputs {
		if in.Optional && from.yes() {
			p.without = append(p.without, in.Name)
		}
	}
	for i := range t.Op.Attrs {
		if v := drawAttr(from, t.Op, &t.Op.Attrs[i]); v != nil {
			p.attrs[t.Op.Attrs[i].Name] = v
		}
	}
	names := symbols(t.Op)
	for _, name := range names {
		p.sizes[name] = drawSize(from, sampleSizes(t.Op, name)...)
	}
	if s.c = t.with(s.kernel).nearest(p, names); s.c == nil {
		return nil
	}
	for i := range s.c.Inputs {
		s.c = lay(from, s.c, i)
	}
	return s
}

// nearest is a call with as many of the sizes, leading dims and attrs of a plan as the definition allows together; nil if
// it has none with any of them.
func (t *T) nearest(p plan, names []string) *Case {
	for {
		for n := len(names); n >= 0; n-- {
			tried := p
			tried.sizes = maps.Clone(p.sizes)
			for _, name := range names[n:] {
				delete(tried.sizes, name)
			}
			if c, err := t.newCase(tried); err == nil {
				return c
			}
		}
		switch {
		case len(p.batch) > 0:
			p.batch = p.batch[1:]
		case len(p.attrs) > 0:
			p.attrs = nil
		default:
			return nil
		}
	}
}

// drawSize draws sizes of all magnitudes, some of them rounded down to where a tile ends, or to a preferred one. What is
// drawn is never less than the size, so that lower choices lead to small sizes.
func drawSize(from *choices, preferred ...int64) int64 {
	last := adversarialSizes[len(adversarialSizes)-1]
	n := from.upTo(min(1<<from.upTo(int64(bits.Len64(uint64(last)))), last))
	switch from.upTo(3) {
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
func drawAttr(from *choices, op *opdef.Op, a *opdef.Attr) any {
	if a.Binds != "" {
		return nil
	}
	given := from.yes() || !a.HasDefault
	values := slices.Concat(attrValues(op, a), rangeValues(op, a))
	low, hasLow := number(a.Min)
	high, hasHigh := number(a.Max)
	switch {
	case !hasLow && !hasHigh:
		low, high = 0, 4
	case !hasLow:
		low = high - 4
	case !hasHigh:
		high = low + 4
	}
	steps := from.upTo(16)
	switch a.Type {
	case "float": // quarters, which every dtype has
		values = append(values, min(low+float64(steps)/4, high))
	case "int":
		values = append(values, min(int64(low)+steps, int64(high)))
	}
	if v := oneOf(from, values); given {
		return v
	}
	return nil
}

// lay gives an input a layout, or leaves it dense. Contents that an author made are not repeated.
func lay(from *choices, c *Case, i int) *Case {
	at := from.upTo(2 * int64(len(ndarray.Layouts)))
	if at == 0 || at > int64(len(ndarray.Layouts)) || c.Inputs[i] == nil {
		return c
	}
	layout := ndarray.Layouts[at-1]
	if layout.Repeats && c.made[c.Op.Inputs[i].Name] {
		return c
	}
	if view := layout.Apply(c.Inputs[i]); view != nil {
		return c.with(i, view, c.Op.Inputs[i].Name+" "+layout.Name)
	}
	return c
}
