package check

import (
	"testing"

	"github.com/opcast/opcast/internal/language/opdef"
)

// Callers cannot overwrite what an op has saved for itself alone.
func TestSavesForBackward(t *testing.T) {
	outputs := []opdef.Arg{{Name: "y"}, {Name: "bits", Saved: true}}
	for read, want := range map[string]bool{"x": true, "y": true, "bits": false, "": false} {
		gradient := &opdef.Op{Name: "half_backward", Inputs: []opdef.Arg{{Name: "grad_y"}}, Outputs: []opdef.Arg{{Name: "grad_x"}}}
		if read != "" {
			gradient.Inputs = append(gradient.Inputs, opdef.Arg{Name: read})
		}
		op := &opdef.Op{Name: "half", Inputs: []opdef.Arg{{Name: "x"}}, Outputs: outputs, Gradient: gradient}
		if got := savesForBackward(op); got != want {
			t.Errorf("a gradient that reads %q: got %t", read, got)
		}
	}
	if savesForBackward(&opdef.Op{Name: "none"}) {
		t.Error("an op without gradient")
	}
}
