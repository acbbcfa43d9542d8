package run

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/opcast/opcast/conformance/internal/progress"
	"github.com/opcast/opcast/conformance/internal/testkit/fake"
)

// A job that left no report says why, whatever its exit code; one that found failures has told them.
func TestJobsEnd(t *testing.T) {
	for script, want := range map[string]string{
		"echo the reason >&2; exit 1": "the reason",
		"echo the reason >&2; exit 3": "the reason",
		"exit 0":                      "",
		`echo of a check >&2; touch "$4/report.json"; exit 1`: "",
	} {
		p := &publisher{options: Options{Effort: Effort{Command: []string{"sh", "-c", script, "job"}}}, printer: &progress.Printer{Out: io.Discard}}
		err := p.runJob(t.Context(), t.TempDir(), job{})
		if (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", script, err, want)
		}
	}
}

// What stops every job is told once.
func TestJobsWithoutReport(t *testing.T) {
	o := Options{Subject: Subject{Project: fake.Toy(t)}, Effort: Effort{Jobs: 2, Command: []string{"sh", "-c", "echo the reason >&2; exit 1"}}, Output: Output{ReportDir: t.TempDir()}}
	o.Callables = []Callable{{"numpy", "affine", "m:f"}, {"torch", "affine", "m:f"}}
	o.Out = io.Discard
	p, err := plan(o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = runJobs(t.Context(), p, newPublisher(o, p)); err == nil || strings.Count(err.Error(), "the reason") != 1 {
		t.Errorf("got %v", err)
	}
}

// A job runs what its file says: the report of the last run is not in its folder.
func TestJobOfLastFailed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "job.json")
	if err := os.WriteFile(file, []byte(`{"Specs": [["affine", "torch", "value"]]}`), 0o644); err != nil {
		t.Fatal(err)
	}
	p, err := plan(Options{Subject: Subject{Project: fake.Toy(t)}, Scope: Scope{LastFailed: true, Only: "nowhere"}, Effort: Effort{Job: file}, Output: Output{ReportDir: t.TempDir(), Out: io.Discard}})
	if err != nil || len(patternsOf(p.Cells)) != 1 {
		t.Errorf("got %+v, %v", p, err)
	}
}

// What earlier runs left in the folder of failing cases goes; anything else in it is someone's.
func TestCaseFolder(t *testing.T) {
	dir := t.TempDir()
	o := Options{Subject: Subject{Project: fake.Toy(t)}, Output: Output{ReportDir: dir}}
	if _, err := reproducerFolder(o, nil); err != nil {
		t.Fatal(err)
	}
	files := map[string]bool{
		"affine-numpy-base-2-3.py": false, "affine-op-call-base.bin": false, "affine-numpy-m-f-base.json": false, "worker/opcast_worker/replay.py": false,
		"worker-123/opcast_worker/replay.py": false, "mine.py": true, "affine.py": true, "affine-numpy-base.txt": true, "worker-notes/mine.py": true,
		"other/opcast_worker/replay.py": true,
	}
	for name := range files {
		path := filepath.Join(dir, "cases", filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, nil, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := reproducerFolder(o, nil); err != nil {
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
