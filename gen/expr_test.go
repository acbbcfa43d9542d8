package gen

import (
	"testing"

	"github.com/opcast/opcast/internal/opdef"
)

func TestPrinters(t *testing.T) {
	same := func(s string) string { return s }
	for _, tc := range []struct{ text, cpp, python string }{
		{"2*D + 1", "(2 * D) + 1", "(2 * D) + 1"},
		{"a - (b - c)", "a - (b - c)", "a - (b - c)"},
		{"-a * b", "(-a) * b", "(-a) * b"},
		{"C // groups", "opcast::FloorDiv(C, groups)", "_r.floordiv(op, C, groups)"},
		{"(a + b) % 2", "opcast::Mod(a + b, 2)", "_r.mod(op, a + b, 2)"},
		{"ceildiv(n, 4)", "opcast::CeilDiv(n, 4)", "-_r.floordiv(op, -(n), 4)"},
		{"min(a, b, c)", "std::min<int64_t>(std::min<int64_t>(a, b), c)", "min(min(a, b), c)"},
		{"sum(p) + len(p) + p[1]", "(opcast::Sum(p) + opcast::Len(p)) + p[1]", "(sum(p) + len(p)) + p[1]"},
		{"a == 1 or not b < 2 and c != 3", "(a == 1) || (!(b < 2) && (c != 3))", "(a == 1) or (not (b < 2) and (c != 3))"},
	} {
		e, err := opdef.ParseExpr(tc.text)
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
