package transforms

import (
	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/transformed"
)

var exportCheck = transformed.Check("export", varies,
	"an exported program that was saved and loaded gives the same bits, gradients too", checkExport)

// checkExport saves and loads a program.
func checkExport(t *check.T) error {
	return eachVaried(t, func(list []*transformed.PreparedCall, dims []string) error {
		if calls.HasFeature(t.Caller, calls.FeatureSymbolicExport) {
			return exported(t, list[:1], nil) // checkDynamic exports with variable sizes
		}
		for _, made := range list {
			made.Wrt, made.Gradients = []int{}, nil // a program of torch.export is the forward pass
		}
		return exported(t, list, dims)
	})
}
