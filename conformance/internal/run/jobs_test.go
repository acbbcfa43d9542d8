package run

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/opcast/opcast/conformance/internal/fake"
	"github.com/opcast/opcast/conformance/internal/progress"
)

// A job that left no report says why, whatever its exit code; one that found failures has told them.
func TestJobsEnd(t *testing.T) {
	for script, want := range map[string]string{
		"echo the reason >&2; exit 1": "the reason",
		"echo the reason >&2; exit 3": "the reason",
		"exit 0":                      "",
		`echo of a check >&2; touch "$4/report.json"; exit 1`: "",
	} {
		s := &Session{Options: Options{Effort: Effort{Command: []string{"sh", "-c", script, "job"}}}, Printer: &progress.Printer{Out: io.Discard}}
		err := s.runJob(t.Context(), t.TempDir(), nil)
		if (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", script, err, want)
		}
	}
}

// What stops every job is told once.
func TestJobsWithoutReport(t *testing.T) {
	o := Options{Subject: Subject{Project: fake.Toy(t)}, Effort: Effort{Jobs: 2, Command: []string{"sh", "-c", "echo the reason >&2; exit 1"}}, Output: Output{ReportDir: t.TempDir()}}
	o.Callables = []Callable{{"numpy", "affine", "m:f"}, {"torch", "affine", "m:f"}}
	s := &Session{Options: o, Ops: o.Project.Ops, Printer: &progress.Printer{Out: io.Discard}}
	var err error
	if s.Env.Foreign, err = newForeign(o); err != nil {
		t.Fatal(err)
	}
	if _, err = s.runJobs(t.Context(), []string{"numpy", "torch"}); err == nil || strings.Count(err.Error(), "the reason") != 1 {
		t.Errorf("got %v", err)
	}
}

// A job runs what its file says: the report of the last run is not in its folder.
func TestJobOfLastFailed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "job.json")
	if err := os.WriteFile(file, []byte(`{"Specs": [["affine", "torch", "value"]]}`), 0o644); err != nil {
		t.Fatal(err)
	}
	s, _, err := newSession(Options{Subject: Subject{Project: fake.Toy(t)}, Scope: Scope{LastFailed: true, Only: "nowhere"}, Effort: Effort{Job: file}, Output: Output{ReportDir: t.TempDir(), Out: io.Discard}})
	if err != nil || len(s.choice.job) != 1 || s.choice.failed != nil {
		t.Errorf("got %+v, %v", s, err)
	}
}

// What earlier runs left in the folder of failing cases goes; anything else in it is someone's.
func TestCaseFolder(t *testing.T) {
	dir := t.TempDir()
	s := &Session{Options: Options{Subject: Subject{Project: fake.Toy(t)}, Output: Output{ReportDir: dir}}}
	if err := s.reproducerFolder(); err != nil {
		t.Fatal(err)
	}
	files := map[string]bool{
		"affine-numpy-base-2-3.py": false, "affine-op-call-base.bin": false, "affine-numpy-m-f-base.json": false, "worker/replay.py": false,
		"worker-123/replay.py": false, "mine.py": true, "affine.py": true, "affine-numpy-base.txt": true, "worker-notes/mine.py": true,
		"other/replay.py": true,
	}
	for name := range files {
		path := filepath.Join(dir, "cases", filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, nil, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.reproducerFolder(); err != nil {
		t.Fatal(err)
	}
	for name, stays := range files {
		if _, err := os.Stat(filepath.Join(dir, "cases", filepath.FromSlash(name))); (err == nil) != stays {
			t.Errorf("%s: stays %v, want %v", name, err == nil, stays)
		}
	}
}

// Functions are called through a framework: what else has a worker calls no functions.
func TestCallersOfFunctions(t *testing.T) {
	for name, good := range map[string]bool{
		"numpy": true, "torch": true, "": false, "native": false, "backend": false, "op_call": false, "definition": false,
		"chain": false, "reference": false, "foo": false,
	} {
		_, err := newForeign(Options{Subject: Subject{Project: fake.Toy(t), Callables: []Callable{{name, "affine", "m:f"}}}})
		if (err == nil) != good {
			t.Errorf("%q: %v", name, err)
		}
	}
}
