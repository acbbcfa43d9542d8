package refusals

import (
	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/check"
)

var callShapeCheck = check.Check{
	ID: "call-shape", Group: check.GroupErrors, Generated: true,
	Doc:     "unknown and surplus arguments raise TypeError",
	Needs:   check.TakesKeywords,
	Foreign: check.Foreign{Library: check.AboutGenerated.Library, Functions: "its parameters are those that its author gave it"},
	Run:     checkCallShape,
}

// checkCallShape passes an argument that the op does not have, such as out= where nothing is given: Python's own
// TypeError, everywhere alike.
func checkCallShape(t *check.T) error {
	c, err := t.ValidCase()
	if err != nil {
		return err
	}
	unknown := calls.New(c)
	unknown.Extra = map[string]any{"no_such_argument": int64(1)}
	many := calls.New(c)
	many.Inputs = append(many.Inputs, calls.NumberList{1}, calls.NumberList{1})
	list := map[string]*calls.Call{"unknown keyword": unknown, "too many arguments": many}
	if check.OutputsGiven(t.Op, t.Caller) != nil {
		list["no out="] = calls.New(c)
		list["no out="].Extra = map[string]any{"out": nil}
	}
	for name, call := range list {
		result, err := t.Call(call, name)
		if err != nil {
			return err
		}
		if result.Error == nil || result.Error.Class != "TypeError" {
			t.Fail(call, name, "want a TypeError, got %+v", result.Error)
		}
	}
	return nil
}
