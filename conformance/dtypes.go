package conformance

import (
	"github.com/opcast/opcast/internal/dtype"
	"github.com/opcast/opcast/internal/ndarray"
	"github.com/opcast/opcast/internal/rule"
)

// checkCombinations calls every choice of dtypes, those of dtype attrs included, and looks at dtypes only.
func checkCombinations(t *T) error {
	return t.eachCase(func(d dtypes) []plan { return []plan{base(d)} }, func(c *Case) error {
		call, result, err := t.right(t.Caller, c)
		if err != nil {
			return err
		}
		t.shaped(call, c.Name, c, result)
		return nil
	})
}

// checkRefused gives each input every dtype of the table that the definition does not allow there.
func checkRefused(t *T) error {
	c, err := t.wrongCase()
	if err != nil {
		return err
	}
	program := rule.Compile(t.Op)
	call, err := t.call(t.Caller, c)
	if err != nil {
		return err
	}
	for i, in := range t.Op.Inputs {
		err := forEach(dtype.Table, func(d dtype.DType) error {
			if d.Bits < 8 || d.Short == c.Inputs[i].DType.Short {
				return nil
			}
			wrong := call.clone()
			wrong.Inputs[i] = &Tensor{Array: ndarray.New(d, c.Inputs[i].Shape)}
			want := expect(program, wrong, t.Caller, t.env.device)
			if want == nil {
				return nil
			}
			name := in.Name + " of " + d.Long
			result, err := t.Call(wrong, name)
			if err != nil {
				return err
			}
			t.raised(wrong, name, result, want)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
