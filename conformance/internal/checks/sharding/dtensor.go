package sharding

import (
	"fmt"
	"slices"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/transformed"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/transform"
)

var dtensorCheck = onDevices("dtensor", "DTensor",
	"DTensors on two processes have the placements that the definition gives, forward and backward, and the right values", checkDTensor)

// checkDTensor divides along every dim that stands alone, by two processes.
func checkDTensor(t *check.T) error {
	return t.EachOptionalPlan(func(c *cases.Case) error {
		dims := StandaloneDims(t.Op)
		if len(dims) == 0 {
			return check.Skip("no dim stands alone")
		}
		for _, dim := range dims {
			s, err := newSharding(t, c.DTypes, map[string]string{dim: "i"}, []int64{2}, transformed.AbsentInputs(c), true)
			if err != nil {
				return err
			}
			if err := check.Proceed(callWithDTensors(t, s, dim)); err != nil {
				return err
			}
		}
		return nil
	})
}

// placement is how DTensor calls the way in which an argument with these dims is divided.
func placement(c *cases.Case, a *opdef.Arg, dim string) string {
	if at := transformed.AxisIn(c, a, dim); at >= 0 {
		return fmt.Sprintf("S(%d)", at)
	}
	return "R"
}

// callWithDTensors calls with DTensors and compares placements and values.
func callWithDTensors(t *check.T, s *sharding, dim string) error {
	inputs, cotangents := []string{}, []string{}
	for _, i := range cases.GivenInputs(s.C) {
		inputs = append(inputs, placement(s.C, &t.Op.Inputs[i], dim))
	}
	want := s.placements(dim)
	for i := range s.Arguments.Cotangents {
		place := "R"
		if want[i] != "" && want[i][0] == 'S' {
			place = want[i]
		}
		cotangents = append(cotangents, place)
	}
	var facts placements
	r, err := transformed.Send(t, s.C.Name, transformed.Request("dtensor", map[string]any{"inputs": inputs, "cotangents": cotangents}, s.PreparedCall), &facts)
	if err != nil {
		return err
	}
	if overwrites(s.C, dim) && roleOf(t.Op, dim).Role == transform.Gathered {
		transformed.ExpectNotImplemented(t, s.C.Name, r.In("", 0), t.Op.Name+": ") // what is put together first is a copy: it cannot be overwritten
		return nil
	}
	if expectDTensorValues(t, s, r) {
		expectPlacements(t, s, facts, want)
	}
	return nil
}

// overwrites reports whether the op overwrites an input that has the dim.
func overwrites(c *cases.Case, dim string) bool {
	return slices.ContainsFunc(cases.GivenInputs(c), func(i int) bool {
		in := &c.Op.Inputs[i]
		return in.Mutated && transformed.AxisIn(c, in, dim) >= 0
	})
}

// placements are what the worker tells of a call apart from its results.
type placements struct {
	Placements        [][]string
	Forward, Backward map[string]int
}

// expectPlacements compares placements, and expects no communication where they are promised.
func expectPlacements(t *check.T, s *sharding, facts placements, want []string) {
	for i, w := range want {
		if got := facts.Placements[i][0]; w != "" && got != w {
			t.Fail(nil, s.C.Name, "array %d has placement %s, want %s", i, got, w)
		}
	}
	if want[0] != "" && len(facts.Forward) > 0 {
		t.Fail(nil, s.C.Name, "the forward pass communicates: %v", facts.Forward)
	}
	if last := want[len(want)-1]; last != "" && len(s.Wrt) > 0 && len(facts.Backward) > 0 {
		t.Fail(nil, s.C.Name, "the backward pass communicates: %v", facts.Backward)
	}
}

// expectDTensorValues compares the whole arrays: bits where nothing was summed over the processes.
func expectDTensorValues(t *check.T, s *sharding, r *calls.Transformed) bool {
	sums, ok := s.sums(), true
	got, counted := transformed.Arrays(t, s.C.Name, r.In("", 0), len(s.Expected()))
	for i := 0; counted && i < len(got); i++ {
		compare := transformed.SameParts(t)
		if sums[i] {
			compare = transformed.NearSum
		}
		if text := compare(fmt.Sprintf("array %d", i), got[i].Array, s.Expected()[i]); text != "" {
			t.Fail(nil, s.C.Name, "%s", text)
			ok = false
		}
	}
	return counted && ok
}
