package transforms

import (
	"testing"

	"github.com/opcast/opcast/internal/language/opdef"
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
