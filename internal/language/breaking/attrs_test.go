package breaking

import (
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/language/opdef"
)

// Of the numbers that an attribute may be, a list and a range may say the same.
func TestNumbersOfAttributes(t *testing.T) {
	list := func(numbers ...int64) opdef.Attr { return opdef.Attr{Name: "a", Type: "int", Among: numbers} }
	within := func(low, high int64) opdef.Attr { return opdef.Attr{Name: "a", Type: "int", Min: low, Max: high} }
	for _, test := range []struct {
		was, is opdef.Attr
		want    string
	}{
		{list(1, 2), list(2, 1, 3), ""},
		{list(1, 2, 3), list(1, 3), "the attribute a cannot be 2 any more"},
		{within(1, 2), list(1, 2), ""},
		{within(1, 3), list(1, 2), "the attribute a cannot be 3 any more"},
		{within(1, 900), list(1, 2), "the attribute a has to be one of 1 or 2"},
		{opdef.Attr{Name: "a", Type: "int"}, list(1, 2), "the attribute a has to be one of 1 or 2"},
		{list(1, 2), within(0, 9), ""},
		{list(1, 2), within(2, 9), "the attribute a cannot be 1 any more"},
		{within(0, 9), within(2, 9), "the attribute a has to be at least 2"},
		{list(1, 2), opdef.Attr{Name: "a", Type: "int"}, ""},
	} {
		c := &comparison{}
		c.attrNumbers(test.was, test.is)
		var got []string
		for _, change := range c.changes {
			got = append(got, change.Text)
		}
		if strings.Join(got, "; ") != test.want {
			t.Errorf("%v, then %v: %q, want %q", test.was, test.is, got, test.want)
		}
	}
}
