package values

import (
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
)

// expectExtremeValues compares as ExpectCaseValues does, but where the reference itself overflows in float32, the
// precision in which kernels accumulate, that answer is right too.
func expectExtremeValues(t *check.T, c *cases.Case) error {
	call, result, err := t.RunCase(t.Caller, c)
	if err != nil || !t.ExpectMetadata(call, c.Name, c, result) {
		return err
	}
	want, err := t.Env.Oracle.Reference(t.Ctx, c, "float64")
	if err != nil {
		return err
	}
	narrow, err := t.Env.Oracle.Reference(t.Ctx, c, "float32")
	if err != nil {
		return err
	}
	for i, o := range result.Existing() {
		t.CompareScaled(call, c, i, o.Array, want[i], narrow[i])
	}
	return nil
}
