package opdef_test

import (
	"slices"
	"testing"

	"github.com/opcast/opcast/internal/language/opdef"
)

func TestAutocastOf(t *testing.T) {
	arg := func(name, variable string, mutated bool) opdef.Arg {
		return opdef.Arg{Name: name, Mutated: mutated, Type: opdef.Type{Var: variable}}
	}
	op := opdef.Op{Inputs: []opdef.Arg{arg("x", "T", false), arg("y", "W", true), arg("z", "W", false)}}
	for _, want := range []struct{ key, t, w string }{
		{"", "widest", "widest"}, {"lower", "lower", "widest"}, {"float32", "float32", "widest"},
	} {
		op.Autocast = want.key
		if got := op.AutocastOf("T"); got != want.t {
			t.Errorf("autocast = %q: T is cast %q, want %q", want.key, got, want.t)
		}
		if got := op.AutocastOf("W"); got != want.w { // an input that is overwritten keeps its dtype
			t.Errorf("autocast = %q: W is cast %q, want %q", want.key, got, want.w)
		}
	}
	if got := op.Sharing("W"); !slices.Equal(got, []int{1, 2}) {
		t.Errorf("inputs of W: %v, want 1 and 2", got)
	}
}
