package cpp

import (
	"testing"

	"github.com/opcast/opcast/internal/language/opdef/expr"
)

func TestExprPrinter(t *testing.T) {
	same := func(s string) string { return s }
	for _, tc := range []struct{ text, want string }{
		{"2*D + 1", "opcast::Add(opcast::Mul(2, D), 1)"},
		{"a - (b - c)", "opcast::Sub(a, opcast::Sub(b, c))"},
		{"-a * b", "opcast::Mul(opcast::Neg(a), b)"},
		{"n - -(3 * 2**2)", "opcast::Sub(n, -12)"},
		{"n + 2**63", "opcast::Add(n, opcast::Pow(2, 63))"},
		{"n == -1", "n == -1"},
		{"n ** k", "opcast::Pow(n, k)"},
		{"C // groups", "opcast::FloorDiv(C, groups)"},
		{"(a + b) % 2", "opcast::Mod(opcast::Add(a, b), 2)"},
		{"ceildiv(n, 4)", "opcast::CeilDiv(n, 4)"},
		{"min(a, b, c)", "std::min<int64_t>(std::min<int64_t>(a, b), c)"},
		{"sum(p) + len(p) + p[1]", "opcast::Add(opcast::Add(opcast::Sum(p), opcast::Len(p)), p[1])"},
		{"a == 1 or not b < 2 and c != 3", "(a == 1) || (!(b < 2) && (c != 3))"},
	} {
		e, err := expr.Parse(tc.text)
		if err != nil {
			t.Fatalf("%s: %v", tc.text, err)
		}
		if got := exprPrinter(same).Print(e); got != tc.want {
			t.Errorf("C++ of %s: got %s, want %s", tc.text, got, tc.want)
		}
	}
}

// Numbers of floating point are not checked.
func TestFloatPrinter(t *testing.T) {
	e, err := expr.Parse("-(2*n + 1) * m ** k - 2")
	if err != nil {
		t.Fatal(err)
	}
	n, m, k := "static_cast<double>(n)", "static_cast<double>(m)", "static_cast<double>(k)"
	want := "((-((2.0 * " + n + ") + 1.0)) * std::pow(" + m + ", " + k + ")) - 2.0"
	if got := floatPrinter(func(s string) string { return s }).Print(e); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
