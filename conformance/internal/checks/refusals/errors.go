package refusals

import (
	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/invalid"
)

var errorsCheck = check.Check{
	ID: "errors", Group: check.GroupErrors, Profile: check.ProfileFast,
	Doc:     "every broken rule raises its class and text",
	Foreign: check.Judges, Run: checkErrors,
}

func checkErrors(t *check.T) error {
	return t.EachInvalidCall(func(f invalid.Change, call *calls.Call, name string, result *calls.Result) {
		t.ExpectError(call, name, result, f.Expected)
	})
}
