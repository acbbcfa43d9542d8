package stub

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opcast/opcast/internal/language/framework"
	"github.com/opcast/opcast/internal/language/opdef"
)

func arg(name, variable, fixed string) opdef.Arg {
	return opdef.Arg{Name: name, Type: opdef.Type{Var: variable, DType: fixed}}
}

// A result has the dtype of the arguments from which it follows; what nobody can know is Any.
func TestArray(t *testing.T) {
	op := &opdef.Op{
		Inputs:  []opdef.Arg{arg("x", "T", ""), arg("ids", "I", ""), arg("scale", "", "f32"), arg("table", "", "bf16")},
		Outputs: []opdef.Arg{arg("y", "T", ""), arg("z", "O", ""), arg("w", "O", "")},
	}
	for i, want := range []string{"NDArray[_T]", "NDArray[Any]", "NDArray[np.float32]", "NDArray[Any]"} {
		if got := Array("NDArray[{dtype}]", op, &op.Inputs[i]); got != want {
			t.Errorf("%s is %s, want %s", op.Inputs[i].Name, got, want)
		}
	}
	for i, want := range []string{"NDArray[_T]", "NDArray[Any]", "NDArray[Any]"} {
		if got := Array("NDArray[{dtype}]", op, &op.Outputs[i]); got != want {
			t.Errorf("%s is %s, want %s", op.Outputs[i].Name, got, want)
		}
	}
	if got := Array("Tensor", op, &op.Inputs[0]); got != "Tensor" {
		t.Errorf("a type without dtype is %s", got)
	}
}

// What is imported and declared is what the stubs name.
func TestImports(t *testing.T) {
	ops := []*opdef.Op{
		{DTypes: []opdef.DTypeVar{{Name: "T"}, {Name: "O"}}},
		{DTypes: []opdef.DTypeVar{{Name: "T"}}},
	}
	text := "def f(x: NDArray[_T], *, by: " + Literal(&opdef.Attr{OneOf: []string{"a", "b"}}) + ") -> NDArray[_T]: ..."
	variables := Variables(ops, text)
	if diff := cmp.Diff([]string{`_T = TypeVar("_T", bound=np.generic)`}, variables); diff != "" {
		t.Error(diff)
	}
	fw := framework.Stub{Imports: []string{"import numpy as np", "import other", "from a import Unused", "from numpy.typing import DTypeLike, NDArray"}}
	got := Imports(fw, variables[0]+"\n"+text, []string{"from demo_backend import ops as ops"})
	want := []string{
		"from typing import Literal, TypeVar", "",
		"import numpy as np", "from demo_backend import ops as ops", "from numpy.typing import NDArray",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
