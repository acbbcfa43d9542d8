package expr_test

import (
	"testing"

	"github.com/opcast/opcast/internal/language/opdef/expr"
)

// Bounds keep all of their digits, and are printed as the library prints them.
func TestEvalExact(t *testing.T) {
	for text, want := range map[string]string{
		"-9223372036854775808":      "-9223372036854775808",
		"2 ** 64 - 1":               "18446744073709551615",
		"2 ** 62 + 1":               "4611686018427387905",
		"-7 // 2":                   "-4",
		"-7 % 2":                    "1",
		"ceildiv(7, 2)":             "4",
		"max(3, 2 ** 63)":           "9223372036854775808",
		"min(3, 4) if 1 > 0 else 9": "3",
		"1e18":                      "1000000000000000000",
		"0.5":                       "0.5",
		"2 ** -1":                   "0.5",
	} {
		e, err := expr.Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		v, err := e.EvalExact(expr.NoValues{})
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := e.BoundText(v); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	for _, text := range []string{"2 ** 100000", "1 // 0"} {
		e, err := expr.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if v, err := e.EvalExact(expr.NoValues{}); err == nil {
			t.Errorf("%s: %v, want an error", text, v)
		}
	}
}
