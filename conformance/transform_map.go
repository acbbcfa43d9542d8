package conformance

import (
	"fmt"
	"slices"

	"github.com/opcast/opcast/internal/ndarray"
)

// checkMap maps every subset of the given inputs; the axis differs from input to input and from subset to subset.
func checkMap(t *T) error {
	err := t.eachPresence(func(c *Case) error {
		n := len(present(c))
		for set := 1; set < 1<<n; set++ {
			axes := make([]any, n)
			for place := range axes {
				if set>>place&1 == 1 {
					axes[place] = -((set + place) % 2)
				}
			}
			if err := proceed(t.mapsTo(c, level{3, axes})); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, c := range cases(t.Op, rankZero(t.Op, combinations(t.Op, t.env.device)[0]), t.sampler()) {
		if err := proceed(t.mapsTo(c, level{3, slices.Repeat([]any{0}, len(present(c)))})); err != nil {
			return err
		}
	}
	return nil
}

// checkMapNested maps all inputs twice, and each input in a level of its own.
func checkMapNested(t *T) error {
	return t.eachPresence(func(c *Case) error {
		n := len(present(c))
		all := slices.Repeat([]any{0}, n)
		if err := proceed(t.mapsTo(c, level{2, all}, level{3, all})); err != nil {
			return err
		}
		for place := range n {
			one, others := make([]any, n), slices.Repeat([]any{-1}, n)
			one[place], others[place] = 0, nil
			if n == 1 {
				others = all
			}
			if err := proceed(t.mapsTo(c, level{2, others}, level{3, one})); err != nil {
				return err
			}
		}
		return nil
	})
}

// checkMapEmpty maps all inputs, then each alone, over no slices.
func checkMapEmpty(t *T) error {
	return t.eachPresence(func(c *Case) error {
		n := len(present(c))
		if err := proceed(t.mapsTo(c, level{0, slices.Repeat([]any{0}, n)})); err != nil {
			return err
		}
		for place := range n {
			one := make([]any, n)
			one[place] = 0
			if err := proceed(t.mapsTo(c, level{0, one})); err != nil {
				return err
			}
		}
		return nil
	})
}

// mappedCall is a map with its arguments and what it must give.
type mappedCall struct {
	arguments arrays
	want      []*ndarray.Array
}

// mappedWant computes a map by a loop over the bare backend.
func (t *T) mappedWant(m *mapping) (*mappedCall, error) {
	inputs, err := m.arguments()
	if err != nil {
		return nil, err
	}
	like, err := t.bareCall(m.base)
	if err != nil {
		return nil, err
	}
	parts, err := m.slices()
	if err != nil {
		return nil, err
	}
	results := [][]*ndarray.Array{}
	for _, part := range parts {
		made, err := t.bareCall(part)
		if err != nil {
			return nil, err
		}
		results = append(results, made.results(t.Op))
	}
	return &mappedCall{arrays{inputs: inputs}, m.stacked(results, like.results(t.Op))}, nil
}

// mapsTo maps the call of a case and expects what a loop over the bare backend gives.
func (t *T) mapsTo(c *Case, levels ...level) error {
	p := plan{name: "map", dtypes: c.DTypes, batch: c.Batch, sizes: c.Sizes, attrs: c.Attrs, without: absent(c)}
	m, err := t.newMapping(p, levels...)
	if err != nil {
		return err
	}
	x, err := t.mappedWant(m)
	if err != nil {
		return err
	}
	axes := [][]any{}
	for _, l := range levels {
		axes = append(axes, l.axes)
	}
	r, err := t.transform(m.describe(), &transformation{
		way: "vmap", call: newCall(m.base), calls: []arrays{x.arguments}, options: map[string]any{"levels": axes},
	})
	if err != nil {
		return err
	}
	if name := m.overwritten(); name != "" {
		t.mustBeMapped(m.describe(), r, name)
	} else if t.gave(m.describe(), r, 0, x.want) {
		t.started(m.describe(), r, 0, map[string]int64{t.Op.Name: m.launches()})
	}
	return nil
}

// mustBeMapped expects the refusal of a map that would have to write several results into one input.
func (t *T) mustBeMapped(name string, r *transformed, input string) {
	want := fmt.Sprintf("%s: %s: expected to be mapped too, since it is overwritten", t.Op.Name, input)
	if e := r.Calls[0].Error; e == nil {
		t.Fail(nil, name, "returned a result, want ValueError: %s", want)
	} else if e.Class != "ValueError" || e.Text != want {
		t.Fail(nil, name, "raised\n  %s: %s\nwant\n  ValueError: %s", e.Class, e.Text, want)
	}
}

// absent names the optional inputs that a case leaves out.
func absent(c *Case) []string {
	var out []string
	for i, in := range c.Inputs {
		if in == nil {
			out = append(out, c.Op.Inputs[i].Name)
		}
	}
	return out
}
