package values

import (
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/internal/language/opdef"
)

var listLengthsCheck = check.Check{
	ID: "list-lengths", Group: check.GroupShapes,
	Doc:     "lists of one array and of many give what the reference gives",
	Needs:   check.When(func(op *opdef.Op) bool { return op.InstanceOf != nil }, "the op has no list of arrays"),
	Foreign: check.Judges, Run: check.WithFewerDTypes(checkListLengths),
}

// otherLengths are lengths of lists that the other checks do not have: one array, and more than anybody has room for on a
// stack by chance.
var otherLengths = []int{1, 3, 70}

func checkListLengths(t *check.T) error {
	tested := t.Op
	defer func() { t.Op = tested }()
	for _, length := range otherLengths {
		t.Op = tested.Whole().Instance(func(string) int { return length })
		small := func(d cases.DTypes) []cases.Plan {
			return []cases.Plan{{Name: "lengths", DTypes: d, Largest: cases.MaxElements}}
		}
		if err := t.EachCase(small, t.ExpectCaseValues); err != nil {
			return err
		}
	}
	return nil
}
