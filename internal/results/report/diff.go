package report

import (
	"cmp"
	"fmt"
	"slices"
)

// Diff lists the results whose status differs between two runs, ordered by their names. A result that only one of the runs
// has is listed too, with an empty status for the other run.
func Diff(before, after *Report) ([]Change, error) {
	if before.Collection != after.Collection {
		return nil, fmt.Errorf("%w: one is of %q, the other of %q", ErrDifferent, before.Collection, after.Collection)
	}
	old, now := statuses(before.Results), statuses(after.Results)
	var out []Change
	for _, r := range slices.Concat(old.order, now.order) {
		if was, is := old.of[r.Key()], now.of[r.Key()]; was != is {
			out = append(out, Change{r.Op, r.Adaptor, r.Group, r.Check, r.Kernel, r.DType, was, is})
		}
	}
	slices.SortFunc(out, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.Op, b.Op), cmp.Compare(a.Adaptor, b.Adaptor), cmp.Compare(a.Group, b.Group),
			cmp.Compare(a.Check, b.Check), cmp.Compare(a.Kernel, b.Kernel), cmp.Compare(a.DType, b.DType))
	})
	return slices.Compact(out), nil // what both runs have is there twice
}
