package run

import (
	"strings"
	"testing"
	"time"

	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/testkit/fake"
)

// A reference that returns no arrays is told so in a sentence, and None is right only where an input is left out.
func TestReferenceMisfits(t *testing.T) {
	reference := fake.RealOracle(t, time.Minute)
	for text, want := range map[string]string{
		"return None":              "expected an array, got None",
		"x + 1":                    "expected an array, got None",
		"return 'abc'":             "expected an array of numbers, got str",
		"return {'y': x}":          "expected an array of numbers, got dict",
		"return [[1.0], [1.0, 2]]": "expected an array of numbers, got list, whose elements are no numbers or differ in length",
		"return x, 'abc'":          "result 1: expected an array of numbers, got str",
		"y = x\nreturn y +":        "SyntaxError: invalid syntax (the reference of affine, line 3)",
	} {
		op := *fake.ToyOp(t, "affine")
		op.Reference = text
		c, err := cases.New(&op, cases.BasePlan(cases.DTypes{"T": "f32"}))
		if err != nil {
			t.Fatal(err)
		}
		if _, err = reference.Reference(t.Context(), c, "float64"); err == nil || !strings.HasSuffix(err.Error(), "reference of affine: "+want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}
