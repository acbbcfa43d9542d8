package opdef_test

import (
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/language/opdef"
)

// A number may be in the place of an input that says neither where a call is nor for which dtypes.
func TestTakesNumber(t *testing.T) {
	t.Parallel()
	op := &opdef.Op{
		DTypes: []opdef.DTypeVar{
			{Name: "T", OneOf: []string{"f32", "bf16"}}, {Name: "S", OneOf: []string{"i64", "i32"}}, {Name: "M", OneOf: []string{"f32", "i32"}},
			{Name: "O", OneOf: []string{"f32", "f16"}}, {Name: "A", OneOf: []string{"f32", "f16"}}, {Name: "C", OneOf: []string{"c64"}},
			{Name: "R", OneOf: []string{"f32", "f16"}},
		},
		Outputs: []opdef.Arg{{Name: "y", Type: opdef.Type{Var: "R"}}},
		Attrs:   []opdef.Attr{{Name: "out_dtype", Binds: "A"}},
	}
	for _, one := range []string{
		"first f32[]", "x T[N]", "by T[]", "seed S[]", "offset S[]", "flag bool[]", "row f32[1]", "written f32[] mutated",
		"mixed M[]", "early O[]", "late O[N]", "chosen A[]", "complex C[]", "result R[]",
	} {
		words := strings.Fields(one)
		kind, err := opdef.ParseType(words[1])
		if err != nil {
			t.Fatal(err)
		}
		if kind.Var == "f32" || kind.Var == "bool" {
			kind.Var, kind.DType = "", kind.Var
		}
		op.Inputs = append(op.Inputs, opdef.Arg{Name: words[0], Type: kind, Mutated: len(words) > 2})
	}
	var taken []string
	for i := range op.Inputs {
		if op.TakesNumber(&op.Inputs[i]) {
			taken = append(taken, op.Inputs[i].Name+" "+op.NumberType(&op.Inputs[i]))
		}
	}
	if got, want := strings.Join(taken, ", "), "by float, seed int, offset int, flag bool"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	op.Inputs[3].Mutated = true // the seed decides for the offset now
	if giver := op.NumberGiver(&op.Inputs[4]); giver == nil || giver.Name != "seed" || !op.TakesNumber(&op.Inputs[4]) {
		t.Errorf("an overwritten array gives numbers behind it its dtype, got %v", giver)
	}
	op.Inputs[3], op.Inputs[4] = op.Inputs[4], op.Inputs[3]
	if op.TakesNumber(&op.Inputs[3]) {
		t.Error("a number before the array that gives it its dtype")
	}
}
