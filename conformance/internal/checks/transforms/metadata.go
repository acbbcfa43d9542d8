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
	r, err := transformed.SendTransformation(t, c.Name, &calls.Transformation{Method: "fake", Call: calls.New(c), Calls: []calls.Arrays{{Inputs: calls.InputTensors(c)}}})
	if err != nil {
		return err
	}
	if !transformed.ExpectArrays(t, c.Name, r, 0, want) {
		return nil
	}
	for call, device := range []string{t.Env.Device, t.Env.Device, "meta"} {
		name := fmt.Sprintf("%s, %s", c.Name, []string{"real", "fake", "meta"}[call])
		got, ok := transformed.ArraysOf(t, name, r, call, len(want))
		for i := 0; ok && i < len(got); i++ {
			real := r.Calls[0].Outputs[i]
			expectSameMetadata(t, fmt.Sprintf("%s, result %d", name, i), got[i], real, device, call > 0)
		}
		if n := r.Calls[call].Launches[t.Op.Name]; call > 0 && n != 0 {
			t.Fail(nil, name, "started %d kernels", n)
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
