package python

import (
	"github.com/opcast/opcast/gen/view"

	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLayout(t *testing.T) {
	long := strings.Repeat("x", 60)
	nested := node{"f(", []node{leaf(long), {"g(", leaves([]string{long, "b"}), ")"}}, ")"}
	cases := []struct {
		name string
		node node
		want string
	}{
		{"short", node{"f(", leaves([]string{"a", "b"}), ")"}, "    f(a, b)"},
		{"empty", node{"f(", nil, ")"}, "    f()"},
		{"tuple of one", tupleNode("", leaves([]string{"a"})), "    (a,)"},
		{"long tuple of one", tupleNode("", leaves([]string{long + long})), "    (\n        " + long + long + ",\n    )"},
		{"nested", nested, "    f(\n        " + long + ",\n        g(" + long + ", b),\n    )"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, c.node.print("    ", "")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A line of exactly the limit stays; its trailing comma may be what is too much.
func TestLayoutLimit(t *testing.T) {
	fits := node{"f(", leaves([]string{strings.Repeat("x", lineLength-3)}), ")"}
	if got := fits.print("", ""); strings.Contains(got, "\n") {
		t.Errorf("%d columns were broken:\n%s", lineLength, got)
	}
	if got := fits.print("", ","); !strings.Contains(got, "\n") {
		t.Errorf("%d columns were kept:\n%s", lineLength+1, got)
	}
}

func TestIfHead(t *testing.T) {
	a, b := strings.Repeat("a", 50), strings.Repeat("b", 50)
	cases := []struct {
		name string
		cond boolean
		want string
	}{
		{"one", test("a"), "if a:"},
		{"and", allOf(tests([]string{"a", "b"})), "if a and b:"},
		{"or in and", allOf([]boolean{test("a"), anyOf(tests([]string{"b", "c"}))}), "if a and (b or c):"},
		{"not", allOf([]boolean{test("a"), not(anyOf(tests([]string{"b", "c"})))}), "if a and not (b or c):"},
		{"single term needs no parentheses", allOf([]boolean{test("a"), anyOf(tests([]string{"b"}))}), "if a and b:"},
		{"broken", allOf(tests([]string{a, b})), "if (\n    " + a + "\n    and " + b + "\n):"},
		{
			"broken inside", allOf([]boolean{test("x"), not(anyOf(tests([]string{a, b})))}),
			"if (\n    x\n    and not (\n        " + a + "\n        or " + b + "\n    )\n):",
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, ifHead("", c.cond)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestQuote(t *testing.T) {
	for text, want := range map[string]string{
		"plain":        `"plain"`,
		"it's":         `"it's"`,
		`a "word"`:     `'a "word"'`,
		`"it's" "odd"`: `'"it\'s" "odd"'`,
	} {
		if got := quote(text); got != want {
			t.Errorf("pyString(%q) = %s, want %s", text, got, want)
		}
	}
}

func TestDocTextBreaksLines(t *testing.T) {
	d := &view.Docstring{Width: docWidth}
	d.Item("x : int", strings.Repeat("word ", 40))
	for _, line := range d.Lines {
		if len(line) > docWidth {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
	if len(d.Lines) < 3 || !strings.HasPrefix(d.Lines[2], "    word") {
		t.Errorf("continuation is not indented: %q", d.Lines)
	}
}
