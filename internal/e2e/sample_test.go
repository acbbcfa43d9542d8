package e2e

import (
	"slices"
	"testing"

	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/load"
)

// sampleOf names the ops of this repository whose kernels a test tries: those that it asks for, and the first one of each other
// family, with their derivatives.
func sampleOf(t *testing.T, named ...string) (ops []string) {
	t.Helper()
	project, findings, err := load.Load(root(t))
	if err != nil || len(findings) > 0 {
		t.Fatal(err, findings)
	}
	if !testing.Short() {
		return project.OpNames()
	}
	families := map[string]bool{}
	for _, op := range project.Ops {
		if slices.Contains(named, op.Name) {
			families[op.Family] = true
		}
	}
	for _, op := range project.Ops {
		family := op.Family
		if op.DerivedFrom() == nil && (slices.Contains(named, op.Name) || !families[family]) {
			families[family] = true
			for _, one := range append([]*opdef.Op{op}, op.Derived()...) {
				ops = append(ops, one.Name)
			}
		}
	}
	return ops
}
