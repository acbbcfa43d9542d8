package report_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/results/report"
)

func sample() *report.Report {
	return &report.Report{
		Schema: report.Schema, Collection: "demo", Device: "cpu", Adaptors: map[string]string{"numpy": "2.4.6"},
		Results: []report.Result{
			{Op: "scale", Adaptor: "torch", Group: "Values", Check: "value", Status: report.Skip, Reason: "torch is not installed"},
			{Op: "scale", Adaptor: "numpy", Group: "Values", Check: "value", DType: "T = float16", Status: report.Fail,
				Reason: "y[0]: got 1 < 2\nwant 3", File: "opdefs/scale.toml", Line: 1},
			{Op: "add", Adaptor: "numpy", Group: "Shapes", Check: "rank", Kernel: "add_fast", Status: report.Pass},
			{Op: "add", Adaptor: "numpy", Group: "Shapes", Check: "sizes", Status: report.Error, Reason: "worker stopped"},
		},
	}
}

func TestSummary(t *testing.T) {
	got := sample().Summary()
	if got.String() != "1 passed, 2 failed, 1 skipped" || got.OK() {
		t.Errorf("got %q, OK %v", got, got.OK())
	}
	if (report.Summary{Skipped: 3}).OK() {
		t.Error("a run in which nothing passed is fine")
	}
}

func TestWorse(t *testing.T) {
	for _, test := range []struct{ a, b, want report.Status }{
		{"", report.Pass, report.Pass},
		{report.Pass, report.Unsupported, report.Unsupported},
		{report.Fail, report.Skip, report.Fail},
		{report.Fail, report.Error, report.Error},
	} {
		if got := report.Worse(test.a, test.b); got != test.want {
			t.Errorf("worse of %q and %q: got %q, want %q", test.a, test.b, got, test.want)
		}
	}
}

func TestWriteJUnit(t *testing.T) {
	var out bytes.Buffer
	if err := sample().WriteJUnit(&out); err != nil {
		t.Fatal(err)
	}
	var back struct {
		Suites []struct {
			Name     string `xml:"name,attr"`
			Failures int    `xml:"failures,attr"`
			Errors   int    `xml:"errors,attr"`
			Skipped  int    `xml:"skipped,attr"`
			Cases    []struct {
				Name string `xml:"name,attr"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(out.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	if s := back.Suites[0]; s.Name != "scale" || s.Failures != 1 || s.Skipped != 1 || s.Errors != 0 {
		t.Errorf("scale: %+v", s)
	}
	if s := back.Suites[1]; s.Errors != 1 || s.Cases[0].Name != "Shapes: rank [add_fast]" {
		t.Errorf("add: %+v", s)
	}
}

func TestWriteFiles(t *testing.T) {
	dir := t.TempDir()
	r := sample()
	r.Sort()
	if r.Results[0].Op != "add" || r.Results[3].Adaptor != "torch" {
		t.Errorf("not sorted: %+v", r.Results)
	}
	if err := r.WriteFiles(filepath.Join(dir, "report")); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "report", "report.json"))
	if err != nil {
		t.Fatal(err)
	}
	var back report.Report
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r, &back); diff != "" {
		t.Errorf("report.json (-want +got):\n%s", diff)
	}
	page, err := os.ReadFile(filepath.Join(dir, "report", "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"2.4.6", "2 of 4 results are failures", "got 1 &lt; 2", "scale · numpy · Values: value [T = float16]"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("index.html lacks %q", want)
		}
	}
}

func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		"y[0]: got 1,\n\twant 2 µ → é":        "y[0]: got 1,\n\twant 2 µ → é",
		"\x1b[2J\x1b]0;title\x07":             `\x1b[2J\x1b]0;title\x07`,
		"passed\rfailed\x00\x7f":              `passed\x0dfailed\x00\u007f`,
		"\u009b31m, \u202ereversed\u202c":     `\u009b31m, \u202ereversed\u202c`,
		"a byte that is no character: \x9b1m": `a byte that is no character: \x9b1m`,
	} {
		if got := diag.Plain(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
