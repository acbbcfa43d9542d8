package transforms

import (
	"maps"
	"slices"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/transformed"
	"github.com/opcast/opcast/internal/language/opdef"
)

var opcheckCheck = transformed.Check("opcheck", transformed.Offers("opcheck", transformed.Transforms),
	"PyTorch's own tests of custom ops pass, every one", checkOpcheck)

// The tests of torch.library.opcheck. The one of autograd applies only where a gradient is wanted.
var opcheckTests = []string{"test_schema", "test_faketensor", "test_aot_dispatch_dynamic", "test_autograd_registration"}

// checkOpcheck runs PyTorch's tests on dense and on transposed inputs.
func checkOpcheck(t *check.T) error {
	return t.EachOptionalPlan(func(c *cases.Case) error {
		p, err := transformed.Prepare(t, c, true, "opcheck")
		if err != nil {
			return err
		}
		x := transformed.Request("opcheck", nil, p)
		for _, view := range cases.LaidOutCases(c, "transposed")[1:] {
			x.Calls = append(x.Calls, calls.Arrays{Inputs: calls.InputTensors(view), Cotangents: p.Arguments.Cotangents})
		}
		var facts struct{ Opcheck map[string]map[string]string }
		if _, err := transformed.Send(t, c.Name, x, &facts); err != nil {
			return err
		}
		ops := []*opdef.Op{t.Op}
		if t.Op.Gradient != nil {
			ops = append(ops, t.Op.Gradient)
		}
		for _, op := range ops {
			expectOpcheck(t, c.Name, op, facts.Opcheck, op == t.Op && op.Gradient != nil)
		}
		return nil
	})
}

// expectOpcheck expects success of every test of every overload of an op.
func expectOpcheck(t *check.T, name string, op *opdef.Op, found map[string]map[string]string, differentiated bool) {
	overloads := 0
	for _, overload := range slices.Sorted(maps.Keys(found)) {
		if !registered(overload, op.Name) {
			continue
		}
		overloads++
		for _, test := range opcheckTests {
			outcome := found[overload][test]
			if outcome != "SUCCESS" && (differentiated || test != "test_autograd_registration") {
				t.Fail(nil, name, "%s: %s: %q", overload, test, outcome)
			}
		}
	}
	if overloads == 0 {
		t.Fail(nil, name, "no overload of %s ran, only %v", op.Name, slices.Sorted(maps.Keys(found)))
	}
}
