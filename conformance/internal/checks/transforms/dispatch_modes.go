package transforms

import (
	"slices"
	"strings"

	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/transformed"
)

var dispatchModesCheck = transformed.Check("dispatch-modes", transformed.Offers("dispatch modes", transformed.Transforms),
	"dispatch modes see the op, and its gradient, by name", checkModes)

// checkModes records the ops that a call runs.
func checkModes(t *check.T) error {
	return t.EachOptionalPlan(func(c *cases.Case) error {
		var facts struct {
			Forward, Gradient []string
			Debug             *string // the log of DebugMode, where this release has it
		}
		if _, _, err := transformed.Ask(t, c, "modes", "modes", &facts); err != nil {
			return err
		}
		seen := func(names []string, op string) {
			if !slices.ContainsFunc(names, func(n string) bool { return registered(n, op) }) {
				t.Fail(nil, c.Name, "a dispatch mode saw %v, not %s", names, op)
			}
		}
		seen(facts.Forward, t.Op.Name)
		if facts.Debug != nil && !strings.Contains(*facts.Debug, "::"+t.Op.Name) {
			t.Fail(nil, c.Name, "DebugMode saw %q, not %s", *facts.Debug, t.Op.Name)
		}
		seen(facts.Gradient, t.Op.Name)
		if t.Op.Gradient != nil {
			seen(facts.Gradient, t.Op.Gradient.Name)
		}
		return nil
	})
}
