package e2e

import (
	"cmp"
	"slices"
	"testing"

	"github.com/opcast/opcast/internal/language/opdef"
)

// sampleOf names the ops of this repository whose kernels a test tries, each with its derivatives: those that it asks for, unless all
// tests run whole.
func sampleOf(t *testing.T, named ...string) (ops []string) {
	t.Helper()
	for _, op := range project(t).Ops {
		if op.DerivedFrom() == nil && (slices.Contains(named, op.Name) || !testing.Short()) {
			ops = append(ops, withDerivatives(op)...)
		}
	}
	return ops
}

// perFamily adds an op of each family that a sample leaves out, one without derivatives where there is one: those have to come along.
func perFamily(t *testing.T, sample []string) []string {
	t.Helper()
	ops, families := project(t).Ops, map[string]bool{}
	for _, op := range ops {
		families[op.Family] = families[op.Family] || slices.Contains(sample, op.Name)
	}
	slices.SortStableFunc(ops, func(a, b *opdef.Op) int { return cmp.Compare(len(a.Derived()), len(b.Derived())) })
	for _, op := range ops {
		if !families[op.Family] && op.DerivedFrom() == nil {
			families[op.Family] = true
			sample = append(sample, withDerivatives(op)...)
		}
	}
	return sample
}

// onePerFamily names an op of each family that a sample has.
func onePerFamily(t *testing.T, sample []string) (names []string) {
	t.Helper()
	families := map[string]bool{}
	for _, op := range project(t).Ops {
		if op.DerivedFrom() == nil && slices.Contains(sample, op.Name) && !families[op.Family] {
			families[op.Family] = true
			names = append(names, op.Name)
		}
	}
	return names
}

// withDerivatives names an op and those that compute its derivatives, without which its definition is not complete.
func withDerivatives(op *opdef.Op) (names []string) {
	for _, one := range append([]*opdef.Op{op}, op.Derived()...) {
		names = append(names, one.Name)
	}
	return names
}
