package conformance

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/opcast/opcast/internal/opdef"
)

// TestReferencesAgree compares the references of this repository's definitions with independent formulas: a wrong
// reference would make the suite demand a wrong kernel.
func TestReferencesAgree(t *testing.T) {
	project, findings, err := opdef.Load("..")
	if err != nil || len(findings) > 0 {
		t.Fatal(findings, err)
	}
	text, err := os.ReadFile(filepath.Join("testdata", "independent.py"))
	if err != nil {
		t.Fatal(err)
	}
	oracle := realOracle(t, 5*time.Minute) // the first call imports torch
	for _, op := range project.Ops {
		t.Run(op.Name, func(t *testing.T) {
			if !strings.Contains(string(text), "\ndef "+op.Name+"(") {
				t.Fatal("testdata/independent.py has no formula for it")
			}
			other := *op
			other.Reference, other.ReferenceModule = "", string(text)+"\nreference = "+op.Name+"\n"
			d := combinations(op, "cpu")[0]
			samples := cases(op, slices.Concat(valuePlans(op, d), sizePlans(op, d), attrPlans(op, d), zeroPlans(op, d)))
			if len(samples) == 0 {
				t.Fatal("no samples")
			}
			for _, c := range samples {
				agree(t, oracle, c, &other)
			}
		})
	}
}

func agree(t *testing.T, oracle *remoteOracle, c *Case, other *opdef.Op) {
	t.Helper()
	want, err := oracle.Reference(t.Context(), c, "float64")
	if err != nil {
		t.Fatal(err)
	}
	independent := *c
	independent.Op = other
	got, err := oracle.Reference(t.Context(), &independent, "float64")
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(want) {
		t.Fatalf("%s: %d results, independently %d", c.Name, len(want), len(got))
	}
	for i := range want {
		if got[i].Absent != want[i].Absent || list(got[i].Shape) != list(want[i].Shape) {
			t.Fatalf("%s: result %d is %s (absent: %v), independently %s (%v)", c.Name, i,
				list(want[i].Shape), want[i].Absent, list(got[i].Shape), got[i].Absent)
		}
		for j, w := range want[i].Values {
			g := got[i].Values[j]
			if math.IsNaN(g) != math.IsNaN(w) || math.Abs(g-w) > 1e-9*max(1, math.Abs(w)) {
				t.Fatalf("%s: value %d is %g, independently %g", c.Name, j, w, g)
			}
		}
	}
}
