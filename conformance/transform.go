package conformance

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/opcast/opcast/internal/ndarray"
	"github.com/opcast/opcast/internal/opdef"
)

// transforms holds where a framework has transformations.
func transforms(_ *opdef.Op, caller Caller) error {
	if _, ok := caller.(transformer); !ok || !can(caller, featureTransforms) {
		return unsupported("%s has no transformations", caller.Name())
	}
	return nil
}

// differentiates holds where moreover the op has a gradient.
func differentiates(op *opdef.Op, caller Caller) error {
	if err := transforms(op, caller); err != nil {
		return err
	}
	return unless(op.Gradient != nil, "the op has no gradient")
}

// transform sends a transformation. The error is errAccounted where the framework cannot express it, where it raised and
// where the process died.
func (t *T) transform(name string, x *transformation) (*transformed, error) {
	framework, ok := t.Caller.(transformer)
	if !ok {
		return nil, fmt.Errorf("%s transforms nothing", t.Caller.Name())
	}
	x.kernel = t.forced()
	t.latest = x
	r, err := framework.Transform(t.ctx, x)
	if err != nil {
		return nil, t.crashed(nil, name, err)
	}
	if r.Unsupported != "" {
		t.row().unsupported = r.Unsupported
		return nil, errAccounted
	}
	t.row().done++
	if r.Error != nil {
		t.Fail(nil, name, "raised %s: %s\n%s", r.Error.Class, r.Error.Text, r.Error.Trace)
		return nil, errAccounted
	}
	return r, nil
}

// facts reads what a framework tells beside results.
func (r *transformed) facts(into any) error {
	if err := json.Unmarshal(r.Facts, into); err != nil {
		return fmt.Errorf("facts: %w", err)
	}
	return nil
}

// gave expects a call of a transformed op to have given arrays with these bits, in order. An entry that is nil is not
// compared.
func (t *T) gave(name string, r *transformed, call int, want []*ndarray.Array) bool {
	got, ok := t.outputs(name, r, call, len(want))
	for i := 0; ok && i < len(want); i++ {
		if want[i] == nil {
			continue
		}
		if got[i].Array == nil {
			t.Fail(nil, name, "array %d is missing", i)
			ok = false
		} else if text := sameBits(fmt.Sprintf("array %d", i), got[i].Array, want[i]); text != "" {
			t.Fail(nil, name, "%s", text)
			ok = false
		}
	}
	return ok
}

// outputs are the arrays that a call gave, if it gave that many.
func (t *T) outputs(name string, r *transformed, call, count int) ([]Output, bool) {
	if call >= len(r.Calls) {
		t.Fail(nil, name, "made %d calls, want more than %d", len(r.Calls), call)
		return nil, false
	}
	c := &r.Calls[call]
	if c.Error != nil {
		t.Fail(nil, name, "raised %s: %s\n%s", c.Error.Class, c.Error.Text, c.Error.Trace)
		return nil, false
	}
	if len(c.Outputs) != count {
		t.Fail(nil, name, "gave %d arrays, want %d", len(c.Outputs), count)
		return nil, false
	}
	return c.Outputs, true
}

// started expects numbers of kernel launches.
func (t *T) started(name string, r *transformed, call int, want map[string]int64) {
	for op, n := range want {
		if got := r.Calls[call].Launches[op]; got != n {
			t.Fail(nil, name, "started %d kernels of %s, want %d", got, op, n)
		}
	}
}

// notImplemented expects a call to raise NotImplementedError with one of some beginnings of its text.
func (t *T) notImplemented(name string, r *transformed, call int, texts ...string) {
	if call >= len(r.Calls) {
		t.Fail(nil, name, "made %d calls, want more than %d", len(r.Calls), call)
		return
	}
	switch e := r.Calls[call].Error; {
	case e == nil:
		t.Fail(nil, name, "returned a result, want NotImplementedError: %s", texts[0])
	case e.Class != "NotImplementedError" || !slices.ContainsFunc(texts, func(s string) bool { return beginsWith(e.Text, s) }):
		t.Fail(nil, name, "raised\n  %s: %s\nwant\n  NotImplementedError: %s", e.Class, e.Text, texts[0])
	}
}

func beginsWith(text, start string) bool {
	return len(text) >= len(start) && text[:len(start)] == start
}
