package values

import (
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
)

var dtypeCombinationsCheck = check.Check{
	ID: "dtype-combinations", Group: check.GroupDTypes, Profile: check.ProfileFast,
	Doc:     "every allowed choice of dtypes runs and has the declared output dtypes",
	Foreign: check.Judges, Run: checkCombinations,
}

// checkCombinations calls every choice of dtypes, those of dtype attrs included, and looks at dtypes only.
func checkCombinations(t *check.T) error {
	return t.EachCase(cases.BaseOnly, func(c *cases.Case) error {
		call, result, err := t.RunCase(t.Caller, c)
		if err != nil {
			return err
		}
		t.ExpectMetadata(call, c.Name, c, result)
		return nil
	})
}
