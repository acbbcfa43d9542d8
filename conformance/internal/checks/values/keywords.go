package values

import (
	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
)

var keywordsCheck = check.Check{
	ID: "keywords", Group: check.GroupValues,
	Doc:     "arguments by position and by keyword, in any order, give the same bits",
	Needs:   check.TakesKeywords,
	Foreign: check.Foreign{Library: check.AboutGenerated.Library, Functions: "its parameters are those that its author gave it"},
	Run:     check.WithFewerDTypes(checkKeywords),
}

// checkKeywords passes arguments by keyword, in declared and in reverse order.
func checkKeywords(t *check.T) error {
	return t.EachCase(cases.BaseOnly, func(c *cases.Case) error {
		want, err := t.RunBaseline(t.Caller, c)
		if err != nil {
			return err
		}
		for _, style := range []calls.Style{calls.Keywords, calls.Reversed} {
			call := calls.New(c)
			call.Style = style
			got, err := t.Call(call, c.Name)
			if err != nil {
				return err
			}
			if got = t.ExpectSuccess(call, c.Name+", by keyword", got); got != nil {
				t.ExpectSameBits(call, c.Name+", by keyword", got, want)
			}
		}
		return nil
	})
}
