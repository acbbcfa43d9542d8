package conformance

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/ndarray"
	"github.com/opcast/opcast/internal/opdef"
)

// checkAbstract asks for results without data.
func checkAbstract(t *T) error {
	return t.eachPresence(func(c *Case) error {
		if can(t.Caller, featureShapesOnly) {
			return t.evalShape(c)
		}
		return forEach(laidOutCases(c, "transposed"), t.faked)
	})
}

// laidOutCases are a case and, where that is possible, it with inputs of other layouts, one layout at a time; inputs that
// are overwritten keep theirs.
func laidOutCases(c *Case, layouts ...string) []*Case {
	out := []*Case{c}
	for _, layout := range ndarray.Layouts {
		if !slices.Contains(layouts, layout.Name) {
			continue
		}
		view := *c
		view.Inputs, view.Name = slices.Clone(c.Inputs), c.Name+", "+layout.Name
		for i, in := range c.Inputs {
			if in == nil || c.Op.Inputs[i].Mutated {
				continue
			}
			if a := layout.Apply(in); a != nil {
				view.Inputs[i] = a
			}
		}
		out = append(out, &view)
	}
	return out
}

// faked compares fake and meta results with real ones.
func (t *T) faked(c *Case) error {
	dense := *c
	dense.Inputs = slices.Clone(c.Inputs)
	for i, in := range c.Inputs {
		if in != nil {
			dense.Inputs[i] = in.Dense()
		}
	}
	made, err := t.bareCall(&dense)
	if err != nil {
		return err
	}
	want := made.results(t.Op)
	r, err := t.transform(c.Name, &transformation{way: "fake", call: newCall(c), calls: []arrays{{inputs: given(c)}}})
	if err != nil {
		return err
	}
	if !t.gave(c.Name, r, 0, want) {
		return nil
	}
	for call, device := range []string{t.env.device, t.env.device, "meta"} {
		name := fmt.Sprintf("%s, %s", c.Name, []string{"real", "fake", "meta"}[call])
		got, ok := t.outputs(name, r, call, len(want))
		for i := 0; ok && i < len(got); i++ {
			real := r.Calls[0].Outputs[i]
			t.alike(fmt.Sprintf("%s, result %d", name, i), got[i], real, device, call > 0)
		}
		if n := r.Calls[call].Launches[t.Op.Name]; call > 0 && n != 0 {
			t.Fail(nil, name, "started %d kernels", n)
		}
	}
	return nil
}

// alike compares what is known of a result without its elements.
func (t *T) alike(name string, got, want Output, device string, abstract bool) {
	describe := func(o Output, device string) string {
		return fmt.Sprintf("%s%s strides %s on %s", o.DType.Long, list(o.Shape), list(o.Strides), device)
	}
	if a, b := describe(got, got.Device), describe(want, device); a != b {
		t.Fail(nil, name, "got %s, want %s", a, b)
	}
	if got.Abstract != abstract {
		t.Fail(nil, name, "has data: %v, want %v", !got.Abstract, !abstract)
	}
}

// evalShape compares what jax.eval_shape says with real results and gradients.
func (t *T) evalShape(c *Case) error {
	p, err := t.prepare(c, true, "shape")
	if err != nil {
		return err
	}
	r, err := t.transform(c.Name, request("eval_shape", nil, p))
	if err != nil {
		return err
	}
	for call, want := range [][]*ndarray.Array{p.results, p.gradients} {
		if len(want) == 0 {
			continue
		}
		got, ok := t.outputs(c.Name, r, call, len(want))
		for i := 0; ok && i < len(got); i++ {
			if a, b := got[i].DType.Long+list(got[i].Shape), want[i].DType.Long+list(want[i].Shape); a != b || !got[i].Abstract {
				t.Fail(nil, c.Name, "array %d: got %s, want %s without data", i, a, b)
			}
		}
	}
	return nil
}

// checkModes records the ops that a call runs.
func checkModes(t *T) error {
	return t.eachPresence(func(c *Case) error {
		p, err := t.prepare(c, true, "modes")
		if err != nil {
			return err
		}
		r, err := t.transform(c.Name, request("modes", nil, p))
		if err != nil {
			return err
		}
		var facts struct{ Forward, Gradient []string }
		if err := r.facts(&facts); err != nil {
			return err
		}
		seen := func(names []string, op string) {
			if !slices.ContainsFunc(names, func(n string) bool { return registered(n, op) }) {
				t.Fail(nil, c.Name, "a dispatch mode saw %v, not %s", names, op)
			}
		}
		seen(facts.Forward, t.Op.Name)
		seen(facts.Gradient, t.Op.Name)
		if t.Op.Gradient != nil {
			seen(facts.Gradient, t.Op.Gradient.Name)
		}
		return nil
	})
}

// The tests of torch.library.opcheck. The one of autograd applies only where a gradient is wanted.
var opcheckTests = []string{"test_schema", "test_faketensor", "test_aot_dispatch_dynamic", "test_autograd_registration"}

// checkOpcheck runs PyTorch's tests on dense and on transposed inputs.
func checkOpcheck(t *T) error {
	return t.eachPresence(func(c *Case) error {
		p, err := t.prepare(c, true, "opcheck")
		if err != nil {
			return err
		}
		x := request("opcheck", nil, p)
		for _, view := range laidOutCases(c, "transposed")[1:] {
			x.calls = append(x.calls, arrays{given(view), p.arguments.cotangents})
		}
		r, err := t.transform(c.Name, x)
		if err != nil {
			return err
		}
		var facts struct{ Opcheck map[string]map[string]string }
		if err := r.facts(&facts); err != nil {
			return err
		}
		ops := []*opdef.Op{t.Op}
		if t.Op.Gradient != nil {
			ops = append(ops, t.Op.Gradient)
		}
		for _, op := range ops {
			t.opchecked(c.Name, op, facts.Opcheck, op == t.Op && op.Gradient != nil)
		}
		return nil
	})
}

// opchecked expects success of every test of every overload of an op.
func (t *T) opchecked(name string, op *opdef.Op, found map[string]map[string]string, differentiated bool) {
	overloads := 0
	for _, overload := range slices.Sorted(maps.Keys(found)) {
		if !registered(overload, op.Name) {
			continue
		}
		overloads++
		for _, test := range opcheckTests {
			outcome := found[overload][test]
			if outcome != "SUCCESS" && (differentiated || test != "test_autograd_registration") {
				t.Fail(nil, name, "%s: %s: %q", overload, test, outcome)
			}
		}
	}
	if overloads == 0 {
		t.Fail(nil, name, "no overload of %s ran, only %v", op.Name, slices.Sorted(maps.Keys(found)))
	}
}

// checkProfile looks for the op, and for its gradient op, in the events of a profile.
func checkProfile(t *T) error {
	return t.eachPresence(func(c *Case) error {
		p, err := t.prepare(c, true, "profile")
		if err != nil {
			return err
		}
		r, err := t.transform(c.Name, request("profile", nil, p))
		if err != nil {
			return err
		}
		t.gave(c.Name, r, 0, p.want())
		var facts struct{ Events [][2]any }
		if err := r.facts(&facts); err != nil {
			return err
		}
		t.listed(c.Name, facts.Events, t.Op.Name, c)
		if t.Op.Gradient != nil {
			t.listed(c.Name, facts.Events, t.Op.Gradient.Name, nil)
		}
		return nil
	})
}

// listed expects an event of an op; c has the shapes of its inputs, if they are to be compared.
func (t *T) listed(name string, events [][2]any, op string, c *Case) {
	var names []string
	for _, e := range events {
		event, _ := e[0].(string)
		names = append(names, event)
		if _, after, _ := strings.Cut(event, "::"); after != op {
			continue
		}
		if c != nil {
			t.eventShapes(name, e[1], c)
		}
		return
	}
	t.Fail(nil, name, "the profile has no %s, only %v", op, names)
}

// eventShapes compares the shapes in an event with those of the inputs; whatever is no tensor has an empty one.
func (t *T) eventShapes(name string, got any, c *Case) {
	shapes, _ := got.([]any)
	for i, in := range c.Inputs {
		want := "[]"
		if in != nil {
			want = strings.ReplaceAll(list(in.Shape), ",", "")
		}
		if i >= len(shapes) || fmt.Sprint(shapes[i]) != want {
			t.Fail(nil, name, "the profile has input shapes %v, want %s for %s", shapes, want, c.Op.Inputs[i].Name)
		}
	}
}
