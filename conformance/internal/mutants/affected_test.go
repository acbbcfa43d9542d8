package mutants

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/mutate"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/load"
)

// TestAffectedOps: a mutant in code that all ops share is tried with the ops as the suite tests them, each list with its arrays.
func TestAffectedOps(t *testing.T) {
	p, findings, err := load.Load(filepath.Join("..", "..", ".."))
	if err != nil || len(findings) > 0 {
		t.Fatal(err, findings)
	}
	names := func(op *opdef.Op) (out []string) {
		for i := range op.Inputs {
			out = append(out, op.Inputs[i].Name)
		}
		return out
	}
	b := &Sandbox{Runner: &Runner{}, Project: p}
	lists := 0
	for _, op := range p.Ops {
		b.ops = append(b.ops, op.Name)
		if len(names(cases.Tested(op))) > len(op.Inputs) {
			lists++
		}
	}
	got := b.affectedOps(&mutate.Mutant{})
	if len(got) != len(p.Ops) || lists == 0 {
		t.Fatalf("%d of %d ops, %d with lists", len(got), len(p.Ops), lists)
	}
	for i, op := range p.Ops {
		if diff := cmp.Diff(names(cases.Tested(op)), names(got[i])); diff != "" {
			t.Errorf("%s (-want +got):\n%s", op.Name, diff)
		}
	}
}
