package transforms

import (
	"fmt"
	"strings"

	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/transformed"
	"github.com/opcast/opcast/internal/language/rule"
)

var profileCheck = transformed.Check("profile", transformed.Offers("profiler of this kind", transformed.Transforms),
	"a profile lists the op, and its gradient, by name and with the shapes of the inputs", checkProfile)

// checkProfile looks for the op, and for its gradient op, in the events of a profile.
func checkProfile(t *check.T) error {
	return t.EachOptionalPlan(func(c *cases.Case) error {
		var facts struct{ Events [][2]any }
		p, r, err := transformed.Ask(t, c, "profile", "profile", &facts)
		if err != nil {
			return err
		}
		transformed.Expect(t, c.Name, r.In("", 0), p.Expected())
		expectProfileEvent(t, c.Name, facts.Events, t.Op.Name, c)
		if t.Op.Gradient != nil {
			expectProfileEvent(t, c.Name, facts.Events, t.Op.Gradient.Name, nil)
		}
		return nil
	})
}

// expectProfileEvent expects an event of an op; c has the shapes of its inputs, if they are to be compared.
func expectProfileEvent(t *check.T, name string, events [][2]any, op string, c *cases.Case) {
	var names []string
	for _, e := range events {
		event, _ := e[0].(string)
		names = append(names, event)
		if _, after, _ := strings.Cut(event, "::"); after != op {
			continue
		}
		if c != nil {
			eventShapes(t, name, e[1], c)
		}
		return
	}
	t.Fail(nil, name, "the profile has no %s, only %v", op, names)
}

// eventShapes compares the shapes in an event with those of the inputs; whatever is no tensor has an empty one. So has a
// list, which takes one place: profiles do not look into lists.
func eventShapes(t *check.T, name string, got any, c *cases.Case) {
	shapes, _ := got.([]any)
	place := 0
	for i, in := range c.Inputs {
		arg, want := c.Op.Inputs[i], "[]"
		switch {
		case arg.In != "" && arg.At > 0:
			continue
		case arg.In == "" && in != nil:
			want = strings.ReplaceAll(rule.List(in.Shape), ",", "")
		}
		if place >= len(shapes) || fmt.Sprint(shapes[place]) != want {
			t.Fail(nil, name, "the profile has input shapes %v, want %s for %s", shapes, want, arg.Name)
		}
		place++
	}
}
