package conformance_test

import (
	"os"
	"strings"
	"testing"

	"github.com/opcast/opcast/conformance"
	"github.com/opcast/opcast/internal/opdef"
)

func TestTmp(t *testing.T) {
	dir := os.Getenv("TMP_PROJECT")
	if dir == "" {
		t.Skip()
	}
	project, findings, err := opdef.Load(dir)
	if err != nil || len(findings) > 0 {
		t.Fatal(err, findings)
	}
	o := conformance.Options{Project: project, Python: "/work/main/.venv/bin/python", Out: os.Stdout, Verbose: os.Getenv("V") != "", ReportDir: dir + "/build/report", T: t}
	if a := os.Getenv("A"); a != "" {
		o.Adaptors = strings.Split(a, ",")
	}
	if a := os.Getenv("OPS"); a != "" {
		o.Ops = strings.Split(a, ",")
	}
	_, err = conformance.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
}
