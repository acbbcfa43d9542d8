package gen

import (
	"testing"

	"github.com/opcast/opcast/internal/opdef/expr"
)

func TestPrinters(t *testing.T) {
	same := func(s string) string { return s }
	for _, tc := range []struct{ text, cpp, python string }{
		{"2*D + 1", "opcast::Add(opcast::Mul(2, D), 1)", "_r.fit(op, _r.fit(op, 2 * D) + 1)"},
		{"a - (b - c)", "opcast::Sub(a, opcast::Sub(b, c))", "_r.fit(op, a - _r.fit(op, b - c))"},
		{"-a * b", "opcast::Mul(opcast::Neg(a), b)", "_r.fit(op, _r.fit(op, -a) * b)"},
		{"n - -(3 * 2**2)", "opcast::Sub(n, -12)", "_r.fit(op, n - -12)"},
		{"n + 2**63", "opcast::Add(n, opcast::Pow(2, 63))", "_r.fit(op, n + _r.power(op, 2, 63))"},
		{"n == -1", "n == -1", "n == -1"},
		{"n ** k", "opcast::Pow(n, k)", "_r.power(op, n, k)"},
		{"C // groups", "opcast::FloorDiv(C, groups)", "_r.floordiv(op, C, groups)"},
		{"(a + b) % 2", "opcast::Mod(opcast::Add(a, b), 2)", "_r.mod(op, _r.fit(op, a + b), 2)"},
		{"ceildiv(n, 4)", "opcast::CeilDiv(n, 4)", "_r.ceildiv(op, n, 4)"},
		{"min(a, b, c)", "std::min<int64_t>(std::min<int64_t>(a, b), c)", "min(min(a, b), c)"},
		{
			"sum(p) + len(p) + p[1]", "opcast::Add(opcast::Add(opcast::Sum(p), opcast::Len(p)), p[1])",
			"_r.fit(op, _r.fit(op, _r.total(op, p) + len(p)) + p[1])",
		},
		{"a == 1 or not b < 2 and c != 3", "(a == 1) || (!(b < 2) && (c != 3))", "(a == 1) or (not (b < 2) and (c != 3))"},
	} {
		e, err := expr.Parse(tc.text)
		if err != nil {
			t.Fatalf("%s: %v", tc.text, err)
		}
		if got := cppExpr(same).print(e); got != tc.cpp {
			t.Errorf("C++ of %s: got %s, want %s", tc.text, got, tc.cpp)
		}
		if got := pyExpr(same).print(e); got != tc.python {
			t.Errorf("Python of %s: got %s, want %s", tc.text, got, tc.python)
		}
	}
}

// What is not checked: numbers of floating point, and the sizes of a fast path, whose faults the general call finds.
func TestUncheckedPrinters(t *testing.T) {
	same := func(s string) string { return s }
	e, err := expr.Parse("-(2*n + 1) * m ** k - 2")
	if err != nil {
		t.Fatal(err)
	}
	n, m, k := "static_cast<double>(n)", "static_cast<double>(m)", "static_cast<double>(k)"
	want := "((-((2 * " + n + ") + 1)) * std::pow(" + m + ", " + k + ")) - 2"
	if got := cppFloat(same).print(e); got != want {
		t.Errorf("C++: got %s, want %s", got, want)
	}
	want = "((-((2 * n) + 1)) * (m) ** min(k, 64)) - 2"
	if got := fastPrinter(same).print(e); got != want {
		t.Errorf("Python: got %s, want %s", got, want)
	}
}
