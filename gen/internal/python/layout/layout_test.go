package layout

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLayout(t *testing.T) {
	long := strings.Repeat("x", 60)
	nested := Node{"f(", []Node{Leaf(long), {"g(", Leaves([]string{long, "b"}), ")"}}, ")"}
	cases := []struct {
		name string
		node Node
		want string
	}{
		{"short", Node{"f(", Leaves([]string{"a", "b"}), ")"}, "    f(a, b)"},
		{"empty", Node{"f(", nil, ")"}, "    f()"},
		{"tuple of one", TupleNode("", Leaves([]string{"a"})), "    (a,)"},
		{"long tuple of one", TupleNode("", Leaves([]string{long + long})), "    (\n        " + long + long + ",\n    )"},
		{"nested", nested, "    f(\n        " + long + ",\n        g(" + long + ", b),\n    )"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, c.node.Print("    ", "")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A line of exactly the limit stays; its trailing comma may be what is too much.
func TestLayoutLimit(t *testing.T) {
	fits := Node{"f(", Leaves([]string{strings.Repeat("x", LineLength-3)}), ")"}
	if got := fits.Print("", ""); strings.Contains(got, "\n") {
		t.Errorf("%d columns were broken:\n%s", LineLength, got)
	}
	if got := fits.Print("", ","); !strings.Contains(got, "\n") {
		t.Errorf("%d columns were kept:\n%s", LineLength+1, got)
	}
}

func TestIfHead(t *testing.T) {
	a, b := strings.Repeat("a", 50), strings.Repeat("b", 50)
	cases := []struct {
		name string
		cond Boolean
		want string
	}{
		{"one", Test("a"), "if a:"},
		{"and", AllOf(tests([]string{"a", "b"})), "if a and b:"},
		{"or in and", AllOf([]Boolean{Test("a"), AnyOf(tests([]string{"b", "c"}))}), "if a and (b or c):"},
		{"not", AllOf([]Boolean{Test("a"), Not(AnyOf(tests([]string{"b", "c"})))}), "if a and not (b or c):"},
		{"single term needs no parentheses", AllOf([]Boolean{Test("a"), AnyOf(tests([]string{"b"}))}), "if a and b:"},
		{"broken", AllOf(tests([]string{a, b})), "if (\n    " + a + "\n    and " + b + "\n):"},
		{
			"broken inside", AllOf([]Boolean{Test("x"), Not(AnyOf(tests([]string{a, b})))}),
			"if (\n    x\n    and not (\n        " + a + "\n        or " + b + "\n    )\n):",
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, IfHead("", c.cond)); diff != "" {
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
		if got := Quote(text); got != want {
			t.Errorf("pyString(%q) = %s, want %s", text, got, want)
		}
	}
}

func tests(texts []string) []Boolean {
	out := make([]Boolean, len(texts))
	for i, t := range texts {
		out[i] = Test(t)
	}
	return out
}
