package e2e

import (
	"os"
	"path"
	"slices"
	"testing"

	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/load"
)

// everything says that tests try all kernels, as `make test-all` does: it takes an hour instead of a quarter.
var everything = os.Getenv("OPCAST_TEST_ALL") != ""

// sampleOf returns the ops of this repository whose kernels a test tries: those that it names, and the first one of each
// family, with their derivatives.
func sampleOf(t *testing.T, named ...string) (ops []*opdef.Op) {
	t.Helper()
	project, findings, err := load.Load(root(t))
	if err != nil || len(findings) > 0 {
		t.Fatal(err, findings)
	}
	if everything {
		return project.Ops
	}
	families := map[string]bool{}
	for _, op := range project.Ops {
		if slices.Contains(named, op.Name) {
			families[path.Dir(op.File)] = true
		}
	}
	for _, op := range project.Ops {
		family := path.Dir(op.File)
		if op.DerivedFrom() == nil && (slices.Contains(named, op.Name) || !families[family]) {
			families[family] = true
			ops = append(append(ops, op), op.Derived()...)
		}
	}
	return ops
}

// namesOf are the names of ops.
func namesOf(ops []*opdef.Op) (names []string) {
	for _, op := range ops {
		names = append(names, op.Name)
	}
	return names
}
