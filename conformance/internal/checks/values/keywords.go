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

// checkKeywords passes arguments by keyword, in declared and in reverse order, and by position in an order that the definition gives.
func checkKeywords(t *check.T) error {
	return t.EachCase(cases.BaseOnly, func(c *cases.Case) error {
		want, err := t.RunBaseline(t.Caller, c)
		if err != nil {
			return err
		}
		styles := []calls.Style{calls.Keywords, calls.Reversed}
		if len(t.Op.Order) > 0 {
			styles = append(styles, calls.InOrder)
		}
		for _, style := range styles {
			name := c.Name + ", by keyword"
			if style == calls.InOrder {
				name = c.Name + ", in the order of the parameters"
			}
			call := calls.New(c)
			call.Style = style
			got, err := t.Call(call, name)
			if err != nil {
				return err
			}
			if got = t.ExpectSuccess(call, name, got); got != nil {
				t.ExpectSameBits(call, name, got, want)
			}
		}
		return nil
	})
}
