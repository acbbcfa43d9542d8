package bench

import (
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/opdef/load"
)

// unmeasured are ops of which no workload can be written: the lists of AdamW have shapes of their own.
const unmeasured = "adamw"

// TestEveryOpHasPeers: every op is measured, beside what users of other libraries write.
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
		if !strings.Contains(op.Module, "\ndef peers(framework):\n") {
			t.Errorf("%s: nobody has named peers", op.Name)
		}
	}
}
