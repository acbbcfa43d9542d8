package report_test

import (
	"bytes"
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opcast/opcast/internal/results/report"
)

// stopped is a part of a run with results of one op.
func stopped(interrupted *report.Interruption, statuses map[string]report.Status) *report.Report {
	r := &report.Report{
		Schema: report.Schema, SuiteVersion: "4", Collection: "demo", Device: "cpu", Adaptors: map[string]string{}, Interrupted: interrupted,
	}
	for check, status := range statuses {
		r.Results = append(r.Results, report.Result{Op: "add", Adaptor: "numpy", Group: "Values", Check: check, Status: status})
	}
	r.Sort()
	return r
}

func spec(check string) report.Spec { return report.Spec{Op: "add", Adaptor: "numpy", Check: check} }

// What was interrupted in one part is missing in the whole, but for what another part has.
func TestMergeInterrupted(t *testing.T) {
	first := &report.Interruption{Reason: "interrupted by SIGINT", NotRun: 3, Pending: []report.Spec{spec("value"), spec("attrs")}}
	second := &report.Interruption{Reason: "interrupted by SIGTERM", NotRun: 2, Pending: []report.Spec{spec("rank")}}
	got, err := report.Merge(stopped(first, nil), stopped(nil, map[string]report.Status{"value": report.Pass}), stopped(second, nil))
	if err != nil {
		t.Fatal(err)
	}
	want := &report.Interruption{Reason: "interrupted by SIGINT", NotRun: 5, Pending: []report.Spec{spec("attrs"), spec("rank")}}
	if diff := cmp.Diff(want, got.Interrupted); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	got, err = report.Merge(stopped(nil, nil), stopped(nil, nil))
	if err != nil || got.Interrupted != nil {
		t.Errorf("a merge of whole parts: %+v, %v", got.Interrupted, err)
	}
}

// What failed before is not forgotten because a run was interrupted before it came to it, however often.
func TestFailedOfInterruptedRun(t *testing.T) {
	before := stopped(nil, map[string]report.Status{
		"value": report.Fail, "attrs": report.Error, "rank": report.Fail, "sizes": report.Fail, "views": report.Pass,
	})
	now := stopped(&report.Interruption{}, map[string]report.Status{"value": report.Fail, "attrs": report.Pass})
	now.Interrupted.Pend(now, before, func(s report.Spec) bool { return s.Check != "sizes" })
	if diff := cmp.Diff([]report.Spec{spec("rank")}, now.Interrupted.Pending); diff != "" {
		t.Errorf("pending, -want +got:\n%s", diff)
	}
	if diff := cmp.Diff([]report.Spec{spec("rank"), spec("value")}, now.Failed()); diff != "" {
		t.Errorf("failed, -want +got:\n%s", diff)
	}
	again := stopped(&report.Interruption{}, nil)
	again.Interrupted.Pend(again, now, func(report.Spec) bool { return true })
	if diff := cmp.Diff(now.Failed(), again.Failed()); diff != "" {
		t.Errorf("after another interruption, -want +got:\n%s", diff)
	}
}

// Every file says that the run was interrupted, and none of them that something failed.
func TestFilesOfInterruptedRun(t *testing.T) {
	dir := t.TempDir()
	r := stopped(&report.Interruption{Reason: "interrupted by SIGINT", NotRun: 7, Pending: []report.Spec{spec("rank")}},
		map[string]report.Status{"value": report.Pass})
	if err := r.WriteFiles(dir); err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, name := range []string{"report.json", "junit.xml", "index.html"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		texts[name] = string(text)
	}
	const want = "interrupted by SIGINT: 7 checks did not run"
	if !strings.Contains(texts["index.html"], want) || !strings.Contains(texts["index.html"], "add · numpy · rank") {
		t.Errorf("index.html does not say %q", want)
	}
	if strings.Contains(texts["index.html"], "Everything that could be checked holds") {
		t.Error("index.html says that everything holds")
	}
	var suites struct {
		Suites []struct {
			Skipped  int `xml:"skipped,attr"`
			Failures int `xml:"failures,attr"`
			Errors   int `xml:"errors,attr"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal([]byte(texts["junit.xml"]), &suites); err != nil {
		t.Fatal(err)
	}
	skipped := 0
	for _, s := range suites.Suites {
		if skipped += s.Skipped; s.Failures+s.Errors > 0 {
			t.Errorf("junit.xml: %+v", s)
		}
	}
	if skipped != 1 || !strings.Contains(texts["junit.xml"], want) {
		t.Errorf("junit.xml:\n%s", texts["junit.xml"])
	}
	read, err := report.Read(filepath.Join(dir, report.File))
	if err != nil || read.InterruptionText() != want {
		t.Errorf("report.json: %q, %v", read.InterruptionText(), err)
	}
}

// A report is the old one until it is the new one: what cannot be written leaves the old text and nothing beside it.
func TestReportIsWrittenInOneStep(t *testing.T) {
	dir := t.TempDir()
	r := stopped(nil, map[string]report.Status{"value": report.Pass})
	if err := r.WriteFiles(dir); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, report.File)
	held, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := stopped(nil, map[string]report.Status{"value": report.Fail})
	if err := changed.WriteFiles(dir); err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if _, err := text.ReadFrom(held); err != nil || text.String() != string(old) {
		t.Errorf("who read the old report has another one now: %v", err)
	}
	if err := os.Remove(filepath.Join(dir, "index.html")); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "index.html", "full"), 0o755); err != nil {
		t.Fatal(err)
	}
	err = changed.WriteFiles(dir)
	if err == nil || !strings.Contains(err.Error(), "write index.html: ") || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v, want one line about index.html", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 3 {
		t.Errorf("there are %v, %v", entries, err)
	}
}
