// Package transformed makes calls that a framework transforms, sends them, and says what they have to give, which is computed
// from calls of the bare backend.
package transformed

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/oracle"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
)

// Check is a check of a transformation, which runs through adaptors. What it shows follows from what is generated.
func Check(id string, needs func(*opdef.Op, calls.Caller) error, doc string, run func(*check.T) error) check.Check {
	return check.Check{
		ID: id, Group: check.GroupTransform, Doc: doc, Generated: true, Through: check.ThroughAdaptors, Needs: needs,
		Foreign: check.TransformsGenerated, Run: run,
	}
}

// Transforms holds where a framework has transformations.
func Transforms(_ *opdef.Op, caller calls.Caller) error {
	if _, ok := caller.(calls.Transformer); !ok || !calls.HasFeature(caller, calls.FeatureTransforms) {
		return check.Unsupported("%s has no transformations", caller.Name())
	}
	return nil
}

// Differentiates holds where moreover the op has a gradient.
func Differentiates(op *opdef.Op, caller calls.Caller) error {
	if err := Transforms(op, caller); err != nil {
		return err
	}
	return check.SkipUnless(op.Gradient != nil, "the op has no gradient")
}

// Offers holds where a framework that transforms has a feature.
func Offers(feature string, also func(*opdef.Op, calls.Caller) error) func(*opdef.Op, calls.Caller) error {
	return func(op *opdef.Op, caller calls.Caller) error {
		if err := Transforms(op, caller); err != nil {
			return err
		}
		if !calls.HasFeature(caller, feature) {
			return check.Unsupported("%s has no %s", caller.Name(), feature)
		}
		return also(op, caller)
	}
}

// Send sends a transformation, and reads what the framework tells beside results into facts, unless that is nil. The error is
// ErrAccounted where the framework cannot express it, where it raised and where the process died.
func Send(t *check.T, name string, x *calls.Transformation, facts any) (*calls.Transformed, error) {
	framework, ok := t.Caller.(calls.Transformer)
	if !ok {
		return nil, fmt.Errorf("%s transforms nothing", t.Caller.Name())
	}
	x.Kernel = t.ForcedKernel()
	t.LastTransformation = x
	r, err := framework.Transform(t.Ctx, x)
	if err != nil {
		return nil, t.Crashed(nil, name, err)
	}
	if r.Unsupported != "" {
		return nil, t.Inexpressible(r.Unsupported)
	}
	t.CurrentRow().Checked++
	if r.Error != nil {
		t.FailBecause("raises "+r.Error.Class+": "+r.Error.Text, nil, name, "raised %s: %s\n%s", r.Error.Class, r.Error.Text, r.Error.Trace)
		return nil, check.ErrAccounted
	}
	if facts != nil {
		if err := json.Unmarshal(r.Facts, facts); err != nil {
			return nil, fmt.Errorf("facts: %w", err)
		}
	}
	return r, nil
}

// Ask sends a case with its gradients; name distinguishes the contents of the cotangents.
func Ask(t *check.T, c *cases.Case, name, way string, facts any) (*PreparedCall, *calls.Transformed, error) {
	p, err := Prepare(t, c, true, name)
	if err != nil {
		return nil, nil, err
	}
	r, err := Send(t, c.Name, Request(way, nil, p), facts)
	return p, r, err
}

// Each is the body of a check that asks for each case with and without optional inputs, and judges what comes.
func Each(name, way string, judge func(*check.T, *PreparedCall, *calls.Transformed)) func(*check.T) error {
	return func(t *check.T) error {
		return t.EachOptionalPlan(func(c *cases.Case) error {
			p, r, err := Ask(t, c, name, way, nil)
			if err == nil {
				judge(t, p, r)
			}
			return err
		})
	}
}

// EachWay runs a body with every call and what it is called; there must be one.
func EachWay(t *check.T, name string, r *calls.Transformed, body func(name string, c *calls.TransformedCall)) {
	if len(r.Calls) == 0 {
		t.Fail(nil, name, "made no call")
	}
	for i := range r.Calls {
		body(name+", "+r.Calls[i].Way, &r.Calls[i])
	}
}

// Expect expects a call to give arrays with these bits, in order. An entry that is nil is not compared.
func Expect(t *check.T, name string, c *calls.TransformedCall, want []*ndarray.Array) bool {
	return expect(t, name, c, want, oracle.SameBits)
}

type comparison = func(name string, got, want *ndarray.Array) string

func expect(t *check.T, name string, c *calls.TransformedCall, want []*ndarray.Array, compare comparison) bool {
	got, ok := Arrays(t, name, c, len(want))
	for i := 0; ok && i < len(want); i++ {
		if want[i] == nil {
			continue
		}
		if got[i].Array == nil {
			t.Fail(nil, name, "array %d is missing", i)
			ok = false
		} else if text := compare(fmt.Sprintf("array %d", i), got[i].Array, want[i]); text != "" {
			t.Fail(nil, name, "%s", text)
			ok = false
		}
	}
	return ok
}

// Arrays are those that a call gave, if it gave that many.
func Arrays(t *check.T, name string, c *calls.TransformedCall, count int) ([]calls.Output, bool) {
	switch {
	case c == nil:
		t.Fail(nil, name, "made no such call")
	case t.Misplaced(t.Caller, c.Error) != "":
		t.CurrentRow().Unsupported = t.Misplaced(t.Caller, c.Error) // of a part of an array that is overwritten
	case c.Error != nil:
		t.Fail(nil, name, "raised %s: %s\n%s", c.Error.Class, c.Error.Text, c.Error.Trace)
	case len(c.Outputs) != count:
		t.Fail(nil, name, "gave %d arrays, want %d", len(c.Outputs), count)
	default:
		return c.Outputs, true
	}
	return nil, false
}

// ExpectLaunches expects numbers of kernel launches.
func ExpectLaunches(t *check.T, name string, c *calls.TransformedCall, want map[string]int64) {
	for op, n := range want {
		if got := c.Launches[op]; got != n {
			t.Fail(nil, name, "started %d kernels of %s, want %d", got, op, n)
		}
	}
}

// ExpectNotImplemented expects a call to raise NotImplementedError with one of some beginnings of its text. Backward passes of
// some frameworks raise an error of their own that quotes it.
func ExpectNotImplemented(t *check.T, name string, c *calls.TransformedCall, texts ...string) {
	if c == nil {
		t.Fail(nil, name, "made no such call")
		return
	}
	switch e := c.Error; {
	case e == nil:
		t.Fail(nil, name, "returned a result, want NotImplementedError: %s", texts[0])
	case calls.HasFeature(t.Caller, calls.FeatureQuotedErrors) && slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(e.Text, "NotImplementedError: "+s) }):
	case e.Class != "NotImplementedError" || !slices.ContainsFunc(texts, func(s string) bool { return strings.HasPrefix(e.Text, s) }):
		t.Fail(nil, name, "raised\n  %s: %s\nwant\n  NotImplementedError: %s", e.Class, e.Text, texts[0])
	}
}
