package definitions

import (
	"testing"

	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/oracle"
	"github.com/opcast/opcast/internal/language/opdef"
)

// What a gradient op gets of the op's results keeps its kind: integers may be indices, and floats have all digits.
func TestExact(t *testing.T) {
	op := &opdef.Op{}
	for _, d := range []string{"f32", "i32"} {
		op.Outputs = append(op.Outputs, opdef.Arg{Name: "y", Type: opdef.Type{DType: d}})
	}
	values := oracle.Expected{Shape: []int64{2}, Values: []float64{3, -1}}
	for i, a := range exact(&cases.Case{Op: op}, []oracle.Expected{values, values}) {
		if want := []string{"f64", "i32"}[i]; a.DType.Short != want || a.Floats()[1] != -1 {
			t.Errorf("got %v %v, want %s", a.DType.Short, a.Floats(), want)
		}
	}
}
