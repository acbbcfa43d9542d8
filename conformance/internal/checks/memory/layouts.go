package memory

import (
	"slices"

	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/internal/language/ndarray"
)

// fastLayouts show most mistakes with strides: rows that are apart, and columns that are.
var fastLayouts = []string{"sliced", "transposed"}

// layoutChecks make one check of each layout that a view can have.
func layoutChecks() []check.Check {
	var list []check.Check
	for _, layout := range ndarray.Layouts {
		profile := ""
		if slices.Contains(fastLayouts, layout.Name) {
			profile = check.ProfileFast
		}
		list = append(list, check.Check{
			ID: layout.Name, Group: check.GroupStrides, Generated: true, Profile: profile,
			Doc:     "a view that is " + layout.Name + " gives what its dense copy gives",
			Through: check.ThroughAdaptors,
			Foreign: check.Judges,
			Run:     check.WithFewerDTypes(checkLayout(layout)),
		})
	}
	return list
}

// checkLayout gives each input in turn the layout and expects the bits of the dense call, or a refusal of what the
// definition does not allow: by the backend, and by all of an input that is overwritten, which nobody can copy before.
func checkLayout(layout ndarray.Layout) func(t *check.T) error {
	return func(t *check.T) error {
		applied := false
		err := t.EachCase(cases.BaseOnly, func(c *cases.Case) error {
			for i, in := range c.Inputs {
				if in == nil {
					continue
				}
				view := c.LaidOut(i, layout)
				if view == nil {
					continue
				}
				applied = true
				if err := check.Proceed(laidOut(t, c, i, view, layout.Name)); err != nil {
					return err
				}
			}
			return nil
		})
		if err == nil && !applied {
			return check.Skip("no input has such a layout")
		}
		return err
	}
}

func laidOut(t *check.T, c *cases.Case, i int, view *ndarray.Array, name string) error {
	want, err := t.RunBaseline(t.Caller, c.With(i, view.Dense(), "dense"))
	if err != nil {
		return err
	}
	changed := c.With(i, view, t.Op.Inputs[i].Name+" "+name)
	return expectDenseResult(t, changed, want)
}
