package conformance

import (
	"fmt"
	"slices"

	"github.com/opcast/opcast/internal/ndarray"
)

// composed is a mapped call with its gradient: arguments, and the results of every slice.
type composed struct {
	m *mapping
	// whole says that every input is mapped.
	whole              bool
	arguments          arrays
	parts              []*Case
	results, gradients [][]*ndarray.Array
}

// compose prepares a map of one level; cotangents are mapped along axis 0.
func (t *T) compose(c *Case, axes []any) (*composed, error) {
	p := plan{name: "compose", dtypes: c.DTypes, batch: c.Batch, sizes: c.Sizes, attrs: c.Attrs, without: absent(c)}
	m, err := t.newMapping(p, level{3, axes})
	if err != nil {
		return nil, err
	}
	out := &composed{m: m, whole: !slices.Contains(axes, nil)}
	if out.arguments.inputs, err = m.arguments(); err != nil {
		return nil, err
	}
	if out.parts, err = m.slices(); err != nil {
		return nil, err
	}
	var cotangents [][]*ndarray.Array
	for i, part := range out.parts {
		ct, err := t.cotangents(part, fmt.Sprint("compose ", i))
		if err != nil {
			return nil, err
		}
		results, gradients, err := t.bareGradient(part, ct)
		if err != nil {
			return nil, err
		}
		cotangents = append(cotangents, ct)
		out.results = append(out.results, results)
		out.gradients = append(out.gradients, chosen(part, gradients, differentiable(c)))
	}
	out.arguments.cotangents = tensorsOf(m.stacked(cotangents, cotangents[0]))
	return out, nil
}

// options tell the way about levels and places; every cotangent is mapped.
func (x *composed) options(compile bool) map[string]any {
	axes := slices.Concat(x.m.levels[0].axes, slices.Repeat([]any{0}, len(x.arguments.cotangents)))
	return map[string]any{"levels": [][]any{axes}, "wrt": differentiable(x.m.base), "compile": compile}
}

// compositions say whether a composed transformation is compiled, too: that of a map over all inputs is.
func (x *composed) compositions() []bool {
	if x.whole {
		return []bool{false, true}
	}
	return []bool{false}
}

// everyMap runs a body with a map over all inputs and with one over each differentiable input alone.
func (t *T) everyMap(body func(x *composed) error) error {
	return t.eachPresence(func(c *Case) error {
		n := len(present(c))
		maps := [][]any{slices.Repeat([]any{0}, n)}
		for _, place := range differentiable(c) {
			one := make([]any, n)
			one[place] = 0
			if n > 1 {
				maps = append(maps, one)
			}
		}
		for _, axes := range maps {
			x, err := t.compose(c, axes)
			if err != nil {
				return err
			}
			if err := proceed(body(x)); err != nil {
				return err
			}
		}
		return nil
	})
}

// checkMapOfGrad maps the gradient: every slice has gradients of its own, of inputs that are not mapped, too.
func checkMapOfGrad(t *T) error {
	return t.everyMap(func(x *composed) error {
		want := x.m.stacked(x.gradients, x.gradients[0])
		for _, compile := range x.compositions() {
			name := fmt.Sprintf("%s, compiled: %v", x.m.describe(), compile)
			r, err := t.transform(name, &transformation{
				way: "per example", call: newCall(x.m.base), calls: []arrays{x.arguments}, options: x.options(compile),
			})
			if err != nil {
				return err
			}
			t.gave(name, r, 0, want)
		}
		return nil
	})
}

// checkGradOfMap differentiates the sum over the slices.
func checkGradOfMap(t *T) error {
	return t.everyMap(func(x *composed) error {
		for _, compile := range x.compositions() {
			name := fmt.Sprintf("%s, compiled: %v", x.m.describe(), compile)
			r, err := t.transform(name, &transformation{
				way: "of mapped", call: newCall(x.m.base), calls: []arrays{x.arguments}, options: x.options(compile),
			})
			if err != nil {
				return err
			}
			t.summed(name, x, r)
		}
		return nil
	})
}

// summed expects the bits of the slices for mapped inputs, and their sum for the others.
func (t *T) summed(name string, x *composed, r *transformed) {
	wrt := differentiable(x.m.base)
	got, ok := t.outputs(name, r, 0, len(wrt))
	if !ok {
		return
	}
	stacked := x.m.stacked(x.gradients, x.gradients[0])
	for k, place := range wrt {
		text := ""
		if x.m.levels[0].axes[place] != nil {
			text = sameBits(fmt.Sprintf("gradient %d", k), got[k].Array, stacked[k])
		} else {
			text = compareSum(fmt.Sprintf("gradient %d", k), got[k].Array, column(x.gradients, k))
		}
		if text != "" {
			t.Fail(nil, name, "%s", text)
		}
	}
}

func column(rows [][]*ndarray.Array, k int) []*ndarray.Array {
	var out []*ndarray.Array
	for _, r := range rows {
		out = append(out, r[k])
	}
	return out
}

// compareSum compares an array with the sum of its parts, which were rounded before they were added: each addition may
// cost a spacing of the largest partial sum.
func compareSum(name string, got *ndarray.Array, parts []*ndarray.Array) string {
	want, reach := make([]float64, parts[0].Len()), make([]float64, parts[0].Len())
	for _, p := range parts {
		for i, v := range p.Floats() {
			want[i] += v
			reach[i] += max(v, -v)
		}
	}
	if list(got.Shape) != list(parts[0].Shape) || got.DType.Long != parts[0].DType.Long {
		return fmt.Sprintf("%s: got %s%s, want %s%s", name, got.DType.Long, list(got.Shape), parts[0].DType.Long, list(parts[0].Shape))
	}
	for i, v := range got.Floats() {
		allowed := sumSpacings * float64(len(parts)) * ndarray.Spacing(got.DType, reach[i])
		if d := v - want[i]; !(max(d, -d) <= allowed) {
			return fmt.Sprintf("%s%s: got %v, want %v, the sum over %d parts", name, list(got.Index(int64(i))), v, want[i], len(parts))
		}
	}
	return ""
}

// sumSpacings is how many spacings each summand may cost: its own sum is the kernel's, with another order.
const sumSpacings = 8

// checkCheckpoint counts launches, too: the forward kernel runs again.
func checkCheckpoint(t *T) error {
	return t.eachPresence(func(c *Case) error {
		p, err := t.prepare(c, true, "checkpoint")
		if err != nil {
			return err
		}
		r, err := t.transform(c.Name, request("checkpoint", nil, p))
		if err != nil {
			return err
		}
		for i := range 2 { // torch: both kinds; JAX: eager, and under jit
			name := fmt.Sprintf("%s, way %d", c.Name, i)
			if t.gave(name, r, i, p.want()) {
				t.started(name, r, i, map[string]int64{gradientOp(t.Op): 1})
			}
		}
		return nil
	})
}
