package transforms

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/testkit/loadtest"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/testkit/tooltest"
)

// The name of a let is as much computed from other sizes as an expression is.
func TestPlainDims(t *testing.T) {
	op := &opdef.Op{Lets: []opdef.Let{{Name: "S"}}}
	for text, want := range map[string]bool{"i32[*, N]": true, "i32[N + 1]": false, "i32[N, S]": false} {
		typ, err := opdef.ParseType(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := plainDims(op, typ); got != want {
			t.Errorf("%s: got %v, want %v", text, got, want)
		}
	}
}

// A program is exported for all sizes from 2 on, unless a condition excludes some, however large they are.
func TestRangesOfExport(t *testing.T) {
	for condition, want := range map[string]map[string]any{
		`["N > 0"]`:       {},
		`["N > 2"]`:       {"N": []any{int64(3), nil}},
		`["N < 2 ** 31"]`: {"N": []any{int64(2), int64(4096)}},
		`["N < 100"]`:     {"N": []any{int64(2), int64(99)}},
	} {
		text := `doc = "Copy."
kind = 0
dtypes = { T = ["f32"] }
inputs = [{ name = "x", type = "T[N]", doc = "A." }]
outputs = [{ name = "y", type = "T[N]", doc = "A." }]
reference = "return x"
require = ` + condition
		op := loadtest.Load(t, tooltest.Project(t, "copy", text)).Ops[0]
		c, err := cases.New(op, cases.Plan{DTypes: cases.DTypes{"T": "f32"}, Sizes: map[string]int64{"N": 5}})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, ranges(c, []string{"N"})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", condition, diff)
		}
	}
}
