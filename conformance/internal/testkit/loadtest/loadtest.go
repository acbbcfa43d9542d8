// Package loadtest loads definitions for tests.
package loadtest

import (
	"testing"

	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/load"
)

// Load is a project in a folder, whose definitions have no fault.
func Load(t testing.TB, dir string) *opdef.Project {
	t.Helper()
	p, findings, err := load.Load(dir)
	if err != nil || len(findings) > 0 {
		t.Fatal(err, findings)
	}
	return p
}
