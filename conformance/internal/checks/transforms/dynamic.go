package transforms

import (
	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/transformed"
)

var dynamicCheck = transformed.Check("dynamic", varies,
	"one program serves every size of the leading and parallel dims", checkDynamic)

// checkDynamic calls one program with several sizes.
func checkDynamic(t *check.T) error {
	return eachVaried(t, func(list []*transformed.PreparedCall, dims []string) error {
		if calls.HasFeature(t.Caller, calls.FeatureSymbolicExport) {
			return exported(t, list, dims)
		}
		r, err := compiled(t, list[0].C.Name, "aot_eager", true, list)
		if err != nil {
			return err
		}
		for i, made := range list {
			transformed.Expect(t, made.C.Name, r.In("", i), made.Expected())
		}
		return nil
	})
}
