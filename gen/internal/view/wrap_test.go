package view_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opcast/opcast/gen/internal/view"
)

// What is broken into lines means the same: a choice in parentheses does not become a tuple, and one of calls is no call.
func TestWrap(t *testing.T) {
	for text, want := range map[string]string{
		"f(a, g(b, ccccc))":             "f(\n  a,\n  g(b, ccccc),\n)",
		"f(aaaa, g(bbbbbbb, cccc))":     "f(\n  aaaa,\n  g(\n    bbbbbbb,\n    cccc,\n  ),\n)",
		"x = (aaaaaa, bbbbb)":           "x = (\n  aaaaaa,\n  bbbbb,\n)",
		"(aaaaaaaaaaaaaaaaa,)":          "(\n  aaaaaaaaaaaaaaaaa,\n)",
		"f(a, b) if c else g(d)":        "f(a, b) if c else g(d)",
		"f(h(i, j) if c else g(d))":     "f(\n  h(i, j) if c else g(d),\n)",
		"((f(a, b) if c else g(d)), e)": "(\n  (\n    f(a, b)\n    if c\n    else g(d)\n  ),\n  e,\n)",
		"-(f(a, b) if c else g(d))":     "-(\n  f(a, b)\n  if c\n  else g(d)\n)",
		"x = (f(a, b) if c else g(d))":  "x = (\n  f(a, b)\n  if c\n  else g(d)\n)",
	} {
		if diff := cmp.Diff(want, strings.Join(view.Wrap([]string{text}, "  ", 18), "\n")); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}
