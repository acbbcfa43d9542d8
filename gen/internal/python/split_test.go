package python

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opcast/opcast/gen/internal/python/layout"
	"github.com/opcast/opcast/gen/internal/view"
	"github.com/opcast/opcast/internal/language/opdef/expr"
)

func TestSplit(t *testing.T) {
	cases := []struct {
		name, text string
		width      int
		want       string
	}{
		{"fits", "(H + 2) // s", 20, "P = (H + 2) // s"},
		{"one part", "(H + 2*p - d*(R - 1) - 1) // s + 1", 41, "_P1 = ((H + (2 * p)) - (d * (R - 1))) - 1\nP = (_P1 // s) + 1"},
		{"two parts", "(H + 2*p) * (R - 3*d)", 24, "_P1 = H + (2 * p)\nP = _P1 * (R - (3 * d))"},
		{"parts of parts", "(H + 2*p) * (R - 3*d)", 18, "_P1 = H + (2 * p)\n_P2 = R - (3 * d)\nP = _P1 * _P2"},
		{"a word", `(H if mode == 'wide' else HHHH + 222) + 1`, 20, "_P1 = mode == \"wide\"\n_P2 = HHHH + 222\nP = (H if _P1 else _P2) + 1"},
		{"no part", "HHHHHHHHHHHH + 1", 10, "P = HHHHHHHHHHHH + 1"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			e, err := expr.Parse(c.text)
			if err != nil {
				t.Fatal(err)
			}
			p := fastPrinter(func(name string) string { return name })
			p.Word = func(_, word string) string { return layout.Quote(word) }
			var lines []string
			for _, part := range view.Split(p, "P", e, c.width) {
				lines = append(lines, part.Name+" = "+p.Print(part.Expr))
			}
			if diff := cmp.Diff(c.want, strings.Join(lines, "\n")); diff != "" {
				t.Error(diff)
			}
		})
	}
}
