package run

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/opcast/opcast/internal/results/report"
)

func TestHold(t *testing.T) {
	for name, test := range map[string]struct {
		results []report.Result
		fails   string
	}{
		"nothing failed": {[]report.Result{{Status: report.Pass}, {Status: report.Skip, Reason: "no such thing"}}, ""},
		"one failed":     {[]report.Result{{Status: report.Pass}, {Status: report.Fail, Reason: "off by one"}}, "off by one"},
		"suite broke":    {[]report.Result{{Status: report.Fail, Reason: "off"}, {Status: report.Error, Reason: "died"}}, "died"},
	} {
		t.Run(name, func(t *testing.T) {
			said := ""
			gomega.NewGomega(func(message string, _ ...int) { said = message }).Expect(test.results).To(haveNoFailure{})
			if said != test.fails {
				t.Errorf("got %q, want %q", said, test.fails)
			}
		})
	}
}

func TestRunsHaveNoLimit(t *testing.T) {
	if suite, _ := configuration(); suite.Timeout != 0 {
		t.Errorf("Ginkgo ends a run after %v; each check has a limit of its own", suite.Timeout)
	}
}
