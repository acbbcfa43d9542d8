package python

import (
	"testing"

	"github.com/opcast/opcast/internal/language/opdef/expr"
)

func TestExprPrinter(t *testing.T) {
	same := func(s string) string { return s }
	for _, tc := range []struct{ text, want string }{
		{"2*D + 1", "_a.fit(op, _a.fit(op, 2 * D) + 1)"},
		{"a - (b - c)", "_a.fit(op, a - _a.fit(op, b - c))"},
		{"-a * b", "_a.fit(op, _a.fit(op, -a) * b)"},
		{"n - -(3 * 2**2)", "_a.fit(op, n - -12)"},
		{"n + 2**63", "_a.fit(op, n + _a.power(op, 2, 63))"},
		{"n == -1", "n == -1"},
		{"n ** k", "_a.power(op, n, k)"},
		{"C // groups", "_a.floordiv(op, C, groups)"},
		{"(a + b) % 2", "_a.mod(op, _a.fit(op, a + b), 2)"},
		{"ceildiv(n, 4)", "_a.ceildiv(op, n, 4)"},
		{"min(a, b, c)", "min(min(a, b), c)"},
		{"sum(p) + len(p) + p[1]", "_a.fit(op, _a.fit(op, _a.total(op, p) + len(p)) + p[1])"},
		{"a == 1 or not b < 2 and c != 3", "(a == 1) or (not (b < 2) and (c != 3))"},
	} {
		e, err := expr.Parse(tc.text)
		if err != nil {
			t.Fatalf("%s: %v", tc.text, err)
		}
		if got := exprPrinter(same).Print(e); got != tc.want {
			t.Errorf("Python of %s: got %s, want %s", tc.text, got, tc.want)
		}
	}
}

// The sizes of a fast path are not checked: the general call finds what is wrong with them.
func TestFastPrinter(t *testing.T) {
	e, err := expr.Parse("-(2*n + 1) * m ** k - 2")
	if err != nil {
		t.Fatal(err)
	}
	want := "((-((2 * n) + 1)) * (m) ** min(k, 64)) - 2"
	if got := fastPrinter(func(s string) string { return s }).Print(e); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
