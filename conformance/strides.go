package conformance

import (
	"github.com/opcast/opcast/internal/ndarray"
	"github.com/opcast/opcast/internal/rule"
)

// checkLayout gives each input in turn the layout and expects the bits of the dense call, or a refusal of what the
// definition does not allow: by the backend, and by all of an input that is overwritten, which nobody can copy before.
func checkLayout(layout ndarray.Layout) func(t *T) error {
	return func(t *T) error {
		applied := false
		err := t.eachCase(func(d dtypes) []plan { return []plan{base(d)} }, func(c *Case) error {
			for i, in := range c.Inputs {
				if in == nil {
					continue
				}
				view := layout.Apply(in)
				if view == nil {
					continue
				}
				applied = true
				if err := proceed(t.laidOut(c, i, view, layout.Name)); err != nil {
					return err
				}
			}
			return nil
		})
		if err == nil && !applied {
			return skip("no input has such a layout")
		}
		return err
	}
}

func (t *T) laidOut(c *Case, i int, view *ndarray.Array, name string) error {
	want, err := t.baseline(t.Caller, c.with(i, view.Dense(), "dense"))
	if err != nil {
		return err
	}
	changed := c.with(i, view, t.Op.Inputs[i].Name+" "+name)
	return t.likeDense(changed, want)
}

// likeDense expects arrays that lie in an unusual way to give what dense ones gave, or the error that their memory is.
func (t *T) likeDense(changed *Case, want *Result) error {
	call, err := t.call(t.Caller, changed)
	if err != nil {
		return err
	}
	got, err := t.Call(call, changed.Name)
	if err != nil {
		return err
	}
	if fault := t.memoryFault(call); fault != nil {
		t.raised(call, changed.Name, got, fault)
		return nil
	}
	if got = t.succeeded(call, changed.Name, got); got != nil {
		if err := t.agrees(call, changed, changed.Name, got, want); err != nil {
			return err
		}
		t.written(call, changed.Name, got)
		t.unchanged(call, changed.Name, got)
	}
	return nil
}

// layoutFault is the error of the first input whose memory the backend must refuse. Adaptors copy what is not dense
// enough.
func layoutFault(caller Caller, call *Call) *rule.Fault {
	if !isBare(caller) {
		return nil
	}
	for i, v := range call.Inputs {
		x, ok := v.(*Tensor)
		if !ok {
			continue
		}
		want := ""
		switch in := call.Op.Inputs[i]; {
		case in.Stride == "" && !x.IsDense():
			want = "contiguous memory"
		case in.Stride == "last" && x.Len() > 0 && x.Rank() > 0 && x.Shape[x.Rank()-1] > 1 && x.Strides[x.Rank()-1] != 1:
			want = "a contiguous last dimension"
		}
		if want != "" {
			text := call.Op.Name + ": " + call.Op.Inputs[i].Name + ": expected " + want + ", got strides " + list(x.Strides)
			return &rule.Fault{Class: "ValueError", Text: text}
		}
	}
	return nil
}
