package run

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/checks/definitions"
	"github.com/opcast/opcast/conformance/internal/testkit/fake"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/load"
)

// Wrong derivatives of derivatives, and wrong tangents, are found whatever is wrong with them; the right ones pass.
func TestPlantedDerivatives(t *testing.T) {
	oracle := fake.RealOracle(t, time.Minute)
	project, diags, err := load.Folder("../../../examples/inference/opdefs")
	if err != nil || len(diags) > 0 {
		t.Fatal(err, diags)
	}
	gradient, tangent := definitions.CheckGradient, definitions.CheckTangent
	for name, test := range map[string]struct {
		of       string
		check    func(*check.T) error
		old, new string
	}{
		"a right gradient of the gradient":     {"swiglu_backward", gradient, "", ""},
		"a second derivative has a wrong sign": {"swiglu_backward", gradient, "(2 + gate", "(2 - gate"},
		"a mixed derivative is missing":        {"swiglu_backward", gradient, " + grad2_grad_up * slope", ""},
		"the cotangent's derivative is wrong":  {"swiglu_backward", gradient, "grad2_grad_gate * up * slope +", "grad2_grad_gate * slope +"},
		"right tangents":                       {"swiglu", tangent, "", ""},
		"a tangent is forgotten":               {"swiglu", tangent, " + tangent_up * (gate * sigmoid)", ""},
		"a tangent takes part twice":           {"swiglu", tangent, "return ", "return tangent_up + "},
		"right tangents of the gradient":       {"swiglu_backward", tangent, "", ""},
		"a tangent of the gradient is wrong":   {"swiglu_backward", tangent, "grad_y * tangent_gate * up * bend", "grad_y * tangent_gate * bend"},
	} {
		t.Run(name, func(t *testing.T) {
			i := slices.IndexFunc(project.Ops, func(o *opdef.Op) bool { return o.Name == test.of })
			op := *project.Ops[i]
			op.Gradient, op.Tangent = changed(op.Gradient, test.old, test.new), changed(op.Tangent, test.old, test.new)
			check := &check.T{Ctx: t.Context(), Env: &check.Environment{Device: "cpu", Oracle: oracle}, Op: &op, Caller: calls.Definition{}}
			if err := test.check(check); err != nil {
				t.Fatal(err)
			}
			if found := len(check.CurrentRow().Failures) > 0; found != (test.old != "") {
				t.Errorf("failures: %v", check.CurrentRow().Failures)
			}
			if check.CurrentRow().Checked == 0 {
				t.Error("nothing was checked")
			}
		})
	}
}

// changed is an op with another reference.
func changed(op *opdef.Op, old, new string) *opdef.Op {
	out := *op
	out.Reference = strings.ReplaceAll(op.Reference, old, new)
	if old == "" {
		out.Reference = op.Reference
	}
	return &out
}
