package report

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// ran is a report with a result that passed and one that was skipped, of two callers.
func ran(device, gpu, started string) *Report {
	return &Report{
		Device: device, Started: started, Environment: map[string]string{"processor": "A processor", "gpu": gpu},
		Adaptors: map[string]string{"torch": "2.15"},
		Results: []Result{
			{Op: "scale", Adaptor: "torch", Check: "value", Status: Pass}, {Op: "scale", Adaptor: "torch", Check: "other", Status: Skip},
			{Op: "scale", Adaptor: "definition", Check: "style", Status: Pass},
			{Op: "scale", Adaptor: "jax", Check: "value", Status: Skip},
		},
	}
}

// A page keeps the lines of machines that are not measured again.
func TestWriteSupport(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(page, []byte("before\n"+SupportBegin+"\n"+SupportEnd+"\nafter\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	interrupted := ran("cpu", "", "2026-11-09T10:00:00Z")
	interrupted.Interrupted = &Interruption{}
	for _, reports := range [][]*Report{
		{ran("cpu", "", "2026-11-01T10:00:00Z")}, {ran("cuda", "A | GPU", "2026-11-02T10:00:00Z"), ran("emulated", "", "2026-11-02T10:00:00Z")},
		{ran(EmulatedDevice("rocm"), "", "2026-11-02T10:00:00Z")},
		{ran("cpu", "", "2026-11-02T10:00:00Z"), ran("cpu", "", "2026-11-03T10:00:00Z"), interrupted}, {ran("cuda", "", "2026-11-04T10:00:00Z")},
	} {
		if err := WriteSupport(page, Support(reports)); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(page)
	want := "before\n" + SupportBegin + "\n" + supportHead +
		"| cpu | A processor | 2026-11-03 | torch | 2.15 | 1 | 1 | 0 | 1 |\n" +
		"| cuda | A \\| GPU | 2026-11-02 | torch | 2.15 | 1 | 1 | 0 | 1 |\n" +
		"| cuda | unknown | 2026-11-04 | torch | 2.15 | 1 | 1 | 0 | 1 |\n" +
		"| emulated | A processor | 2026-11-02 | torch | 2.15 | 1 | 1 | 0 | 1 |\n" +
		"| emulated-rocm | A processor | 2026-11-02 | torch | 2.15 | 1 | 1 | 0 | 1 |\n" + SupportEnd + "\nafter\n"
	if err != nil || string(text) != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
	if err := os.WriteFile(page, []byte(strings.ReplaceAll(string(text), SupportEnd, "")), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := WriteSupport(page, nil); !errors.Is(err, ErrNoPlace) {
		t.Errorf("without a place: %v", err)
	}
}
