package cpp

import (
	"testing"

	"github.com/opcast/opcast/internal/language/opdef/expr"
)

// Constant bounds keep all of their digits in C++.
func TestWholeLiteral(t *testing.T) {
	for text, want := range map[string]string{
		"0": "0", "-4": "-4", "2 ** 40": "INT64_C(1099511627776)", "-9223372036854775808": "INT64_MIN",
		"2 ** 64 - 1": "UINT64_C(18446744073709551615)", "0.5": "", "2 ** 64": "",
	} {
		e, err := expr.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		v, err := e.EvalExact(expr.NoValues{})
		if got := wholeLiteral(v); err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", text, got, err, want)
		}
	}
}
