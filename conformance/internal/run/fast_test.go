package run

import (
	"slices"
	"testing"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/testkit/fake"
)

// The fast profile has values, errors and dtypes, and nothing that compiles, maps or starts processes. A run without it has its
// checks, too.
func TestFast(t *testing.T) {
	ops, callers := fake.Toy(t).Ops, toyCallers()
	c, err := newChoice(Options{Scope: Scope{Profile: check.ProfileFast}})
	if err != nil {
		t.Fatal(err)
	}
	cells, err := c.cells(ops, callers, nil)
	if err != nil {
		t.Fatal(err)
	}
	all, err := (&choice{}).cells(ops, callers, nil)
	if err != nil {
		t.Fatal(err)
	}
	chosen := specsOf(cells)
	for _, id := range []string{"value", "errors", "dtype-combinations", "dtype-refused"} {
		if spec := (pattern{"affine", "fake", id}); !chosen[spec] {
			t.Errorf("%v does not run", spec)
		}
	}
	for spec := range chosen {
		if !specsOf(all)[spec] {
			t.Errorf("%v runs in the fast profile only", spec)
		}
		i := slices.IndexFunc(Checks(), func(c check.Check) bool { return c.ID == spec[2] })
		if group := Checks()[i].Group; group == check.GroupTransform || group == check.GroupEndurance {
			t.Errorf("%v is of the group %s", spec, group)
		}
	}
}

// The library's other callers show in the fast profile what the bare backend shows.
func TestFastCallers(t *testing.T) {
	p := fake.Toy(t)
	_, adaptors, err := Selection(Options{Subject: Subject{Project: p}, Scope: Scope{Profile: check.ProfileFast}}, nil)
	if err != nil || slices.Contains(adaptors, calls.NativeName) || slices.Contains(adaptors, calls.OpCallName) || !slices.Contains(adaptors, calls.BackendName) {
		t.Errorf("got %v, %v", adaptors, err)
	}
	if _, adaptors, err = Selection(Options{Subject: Subject{Project: p}, Scope: Scope{Profile: check.ProfileFast, Adaptors: []string{calls.NativeName}}}, nil); err != nil || !slices.Contains(adaptors, calls.NativeName) {
		t.Errorf("got %v, %v", adaptors, err)
	}
}
