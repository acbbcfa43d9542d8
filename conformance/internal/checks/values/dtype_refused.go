package values

import (
	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/invalid"
	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/rule"
)

var dtypeRefusedCheck = check.Check{
	ID: "dtype-refused", Group: check.GroupDTypes, Generated: true, Profile: check.ProfileFast,
	Doc:     "every dtype that the definition does not declare raises TypeError, which lists the declared ones",
	Foreign: check.Judges, Run: checkRefused,
}

// checkRefused gives each input every dtype of the table that the definition does not allow there.
func checkRefused(t *check.T) error {
	c, err := t.ValidCase()
	if err != nil {
		return err
	}
	program := rule.Compile(t.Op)
	call, err := t.PlainCall(t.Caller, c)
	if err != nil {
		return err
	}
	for i, in := range t.Op.Inputs {
		err := check.ForEach(dtype.Table, func(d dtype.DType) error {
			if d.Bits < 8 || d.Short == c.Inputs[i].DType.Short {
				return nil
			}
			wrong := call.Clone()
			wrong.Inputs[i] = &calls.Tensor{Array: ndarray.New(d, c.Inputs[i].Shape)}
			want := invalid.ExpectedError(program, wrong, t.Caller, t.Env.Device)
			if want == nil {
				return nil
			}
			name := in.Name + " of " + d.Long
			result, err := t.Call(wrong, name)
			if err != nil {
				return err
			}
			t.ExpectError(wrong, name, result, want)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
