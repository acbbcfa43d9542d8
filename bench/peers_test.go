package bench

import (
	"slices"
	"testing"

	"github.com/opcast/opcast/internal/language/opdef/load"
	"github.com/opcast/opcast/internal/results/bench"
)

// unmeasured are ops of which no workload can be written: the lists of AdamW have shapes of their own.
const unmeasured = "adamw"

// TestEveryOpHasPeers: every op has workloads, and functions of other libraries to compare it with.
func TestEveryOpHasPeers(t *testing.T) {
	project, findings, err := load.Load("..")
	if err != nil || len(findings) > 0 {
		t.Fatal(err, findings)
	}
	for _, op := range project.Ops {
		if op.Name == unmeasured {
			continue
		}
		if len(op.Workloads) == 0 {
			t.Errorf("%s: the definition has no workloads", op.Name)
		}
		if !op.Defines("peers") {
			t.Errorf("%s: the definition names no peers", op.Name)
		}
	}
}

// TestPublished: the result in the repository holds what tables show, and nothing else: rows on the pages of ops, and the figures of
// budgets.
func TestPublished(t *testing.T) {
	result, err := bench.Read("measured.json")
	if err != nil {
		t.Fatal(err)
	}
	budgets, err := bench.ReadBudgets("budgets.toml")
	if err != nil {
		t.Fatal(err)
	}
	for _, figure := range result.Figures {
		one := &bench.Result{Figures: []bench.Figure{figure}}
		about := slices.ContainsFunc(one.Judge(budgets), func(j bench.Judgement) bool { return j.Measured+j.Lacking > 0 })
		if !about {
			t.Errorf("no budget is about %s", figure.Name)
		}
	}
}
