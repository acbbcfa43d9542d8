package transforms

import (
	"fmt"
	"slices"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/transformed"
	"github.com/opcast/opcast/internal/language/rule"
)

// expectFakeMetadata compares fake and meta results with real ones.
func expectFakeMetadata(t *check.T, c *cases.Case) error {
	dense := *c
	dense.Inputs = slices.Clone(c.Inputs)
	for i, in := range c.Inputs {
		if in != nil {
			dense.Inputs[i] = in.Dense()
		}
	}
	made, err := transformed.BareCall(t, &dense)
	if err != nil {
		return err
	}
	want := made.Results(t.Op)
	r, err := transformed.Send(t, c.Name, &calls.Transformation{Method: "fake", Call: calls.New(c), Calls: []calls.Arrays{{Inputs: calls.InputTensors(c)}}}, nil)
	if err != nil {
		return err
	}
	real := r.In("real", 0)
	if !transformed.Expect(t, c.Name, real, want) {
		return nil
	}
	for _, way := range []string{"real", "fake", "meta"} {
		name, device, made := c.Name+", "+way, t.Env.Device, r.In(way, 0)
		if way == "meta" {
			device = way
		}
		got, ok := transformed.Arrays(t, name, made, len(want))
		for i := 0; ok && i < len(got); i++ {
			expectSameMetadata(t, fmt.Sprintf("%s, result %d", name, i), got[i], real.Outputs[i], device, made != real)
		}
		if made != nil && made != real {
			transformed.ExpectLaunches(t, name, made, map[string]int64{t.Op.Name: 0})
		}
	}
	return nil
}

// expectSameMetadata compares what is known of a result without its elements.
func expectSameMetadata(t *check.T, name string, got, want calls.Output, device string, abstract bool) {
	describe := func(o calls.Output, device string) string {
		return fmt.Sprintf("%s%s strides %s on %s", o.DType.Long, rule.List(o.Shape), rule.List(o.Strides), device)
	}
	if a, b := describe(got, got.Device), describe(want, device); a != b {
		t.Fail(nil, name, "got %s, want %s", a, b)
	}
	if got.Abstract != abstract {
		t.Fail(nil, name, "has data: %v, want %v", !got.Abstract, !abstract)
	}
}
