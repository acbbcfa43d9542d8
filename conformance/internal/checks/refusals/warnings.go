package refusals

import (
	"fmt"

	"github.com/opcast/opcast/conformance/internal/check"
)

var warningsCheck = check.Check{
	ID: "warnings", Group: check.GroupErrors,
	Doc:   "a deprecated op says so once, at the line of its caller, and no other op warns",
	Needs: check.HasWatchProbe(check.GroupWatch, "warnings", check.NotBackend), Foreign: check.AboutGenerated, Run: checkWarnings,
}

// checkWarnings expects a deprecated op to say so once, in a warning that points at who called it, and any other op to warn
// of nothing.
func checkWarnings(t *check.T) error {
	c, err := t.ValidCase() // the valid call that others spoil
	if err != nil {
		return err
	}
	call, err := t.PlainCall(t.Caller, c)
	if err != nil {
		return err
	}
	result, err := t.CallWatched("warnings", call, c.Name, nil)
	if err != nil || t.ExpectSuccess(call, c.Name, result) == nil {
		return err
	}
	got := fmt.Sprint(result.Notes["warnings"])
	want := "[]"
	if t.Op.Deprecated != "" {
		want = fmt.Sprintf("[[DeprecationWarning %s is deprecated: %s true]]", t.Op.Name, t.Op.Deprecated)
	}
	if got != want {
		t.Fail(call, c.Name, "warnings with class, text and whether they point at the caller: got %s, want %s", got, want)
	}
	return nil
}
