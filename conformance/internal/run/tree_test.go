package run

import (
	"context"
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

// A check that computes and looks at nothing does not keep an interrupted run from its summary. What others find counts.
func TestUnlessInterrupted(t *testing.T) {
	found := []report.Result{{Status: report.Pass}}
	if got := unlessInterrupted(t.Context(), func() []report.Result { return found }); len(got) != 1 {
		t.Errorf("got %v", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	forever := make(chan struct{})
	defer close(forever)
	got := unlessInterrupted(ctx, func() []report.Result {
		cancel()
		<-forever
		return found
	})
	if got != nil {
		t.Errorf("got %v", got)
	}
	pool := &Pool{}
	pool.beside.Go(func() { <-forever })
	pool.abandon()
	if err := pool.Close(); err != nil {
		t.Error(err)
	}
}
