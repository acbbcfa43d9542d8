package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestRun(t *testing.T) {
	tests := map[string]struct {
		in   []string
		want string
		red  bool
	}{
		"groups are not counted": {[]string{
			`{"Action":"run","Package":"m/h/o/a","Test":"TestA"}`,
			`{"Action":"run","Package":"m/h/o/a","Test":"TestA/x"}`,
			`{"Action":"pass","Package":"m/h/o/a","Test":"TestA/x","Elapsed":0.1}`,
			`{"Action":"pass","Package":"m/h/o/a","Test":"TestA","Elapsed":0.1}`,
			`{"Action":"pass","Package":"m/h/o/a","Elapsed":0.2}`,
		}, "ok    a                        1 passed, 0 failed, 0 skipped  0.2 s\n1 passed, 0 failed, 0 skipped\n", false},
		"failures and skips are shown": {[]string{
			`{"Action":"run","Package":"m/h/o/a","Test":"TestA"}`,
			`{"Action":"output","Package":"m/h/o/a","Test":"TestA","Output":"=== RUN   TestA\n"}`,
			`{"Action":"output","Package":"m/h/o/a","Test":"TestA","Output":"    a_test.go:1: wrong\n"}`,
			`{"Action":"fail","Package":"m/h/o/a","Test":"TestA","Elapsed":0.1}`,
			`{"Action":"run","Package":"m/h/o/a","Test":"TestB"}`,
			`{"Action":"skip","Package":"m/h/o/a","Test":"TestB"}`,
			`{"Action":"fail","Package":"m/h/o/a","Elapsed":0.2}`,
		}, "FAIL  a  TestA\n    a_test.go:1: wrong\nskip  a  TestB\n" +
			"FAIL  a                        0 passed, 1 failed, 1 skipped  0.2 s\n0 passed, 1 failed, 1 skipped\n", true},
		"specs are counted": {[]string{
			`{"Action":"run","Package":"m/h/o/c","Test":"TestC"}`,
			`{"Action":"output","Package":"m/h/o/c","Test":"TestC","Output":"\u001b[32mSUCCESS!\u001b[0m -- \u001b[1m12 Passed\u001b[0m | \u001b[1m0 Failed\u001b[0m | 1 Pending | 2 Skipped\n"}`,
			`{"Action":"pass","Package":"m/h/o/c","Test":"TestC","Elapsed":7}`,
			`{"Action":"pass","Package":"m/h/o/c","Elapsed":7}`,
		}, "  ok  c  TestC  7.0 s\nok    c                        12 passed, 0 failed, 3 skipped  7.0 s\n12 passed, 0 failed, 3 skipped\n", false},
		"a package that does not compile fails": {[]string{
			`{"ImportPath":"m/h/o/b","Action":"build-output","Output":"b.go:1: syntax error\n"}`,
			`{"Action":"start","Package":"m/h/o/b"}`,
			`{"Action":"fail","Package":"m/h/o/b","Elapsed":0}`,
		}, "b.go:1: syntax error\nFAIL  b\nFAIL  b                        0 passed, 1 failed, 0 skipped  0.0 s\n0 passed, 1 failed, 0 skipped\n", true},
		"notes are shown": {[]string{
			`{"Action":"run","Package":"m/h/o/a","Test":"TestA"}`,
			`{"Action":"output","Package":"m/h/o/a","Test":"TestA","Output":"note: tried 3.11\n"}`,
			`{"Action":"pass","Package":"m/h/o/a","Test":"TestA","Elapsed":0.1}`,
			`{"Action":"pass","Package":"m/h/o/a","Elapsed":0.2}`,
		}, "  note: tried 3.11\nok    a                        1 passed, 0 failed, 0 skipped  0.2 s\n1 passed, 0 failed, 0 skipped\n", false},
		"words of the go command are shown": {[]string{"go: no module"}, "go: no module\n0 passed, 0 failed, 0 skipped\n", true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			err := run(strings.NewReader(strings.Join(tt.in, "\n")), &out, nil)
			if (err != nil) != tt.red {
				t.Errorf("error %v", err)
			}
			if diff := cmp.Diff(tt.want, out.String()); diff != "" {
				t.Errorf("output (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWaiting(t *testing.T) {
	var out strings.Builder
	s := newSummary(&out)
	s.waiting(time.Now())
	s.running["m/h/o/conformance"] = time.Unix(0, 0)
	s.waiting(time.Unix(42, 0))
	if want := "  …   running: conformance (42 s)\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}
