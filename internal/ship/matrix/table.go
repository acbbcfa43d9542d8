package matrix

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/results/report"
)

// The lines between which a Markdown file has the table.
const (
	Begin = "<!-- matrix: written by make matrix -->"
	End   = "<!-- /matrix -->"
)

// ErrNoPlace means that a file has no lines between which the table could be written.
var ErrNoPlace = errors.New("no place for the table")

// Markdown is the matrix of a report: what was tried, when, and a line per environment.
func Markdown(r *report.Report) string {
	var b strings.Builder
	date, _, _ := strings.Cut(r.Started, "T")
	fmt.Fprintf(&b, "On %s, one library with the SHA-256 `%s`:\n\n", date, r.LibrarySHA256)
	b.WriteString("| environment | Python | versions | profile | results |\n|---|---|---|---|---|\n")
	for i := range r.Versions {
		v := &r.Versions[i]
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n",
			cell(v.Name), cell(v.Python), cell(have(v)), cell(v.Profile), cell(result(v)))
	}
	return b.String()
}

// cell is a text in a table; an empty one is a dash.
func cell(text string) string {
	if text == "" {
		return "–"
	}
	return diag.Cell(text)
}

func have(v *report.Version) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(v.Have)) {
		out = append(out, name+" "+v.Have[name])
	}
	return strings.Join(out, ", ")
}

// result is what an environment came to, in words.
func result(v *report.Version) string {
	sum := report.Summary{Passed: v.Passed, Failed: v.Failed, Skipped: v.Skipped}
	switch {
	case v.Reason == "":
		return sum.String()
	case sum.Passed+sum.Failed == 0:
		return "not run: " + v.Reason
	}
	return sum.String() + ": " + v.Reason
}

// Write puts the table of a report into a Markdown file, between the lines that are there for it.
func Write(path string, r *report.Report) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("write matrix: %w", err)
	}
	before, _, found := strings.Cut(string(text), Begin+"\n")
	_, after, ended := strings.Cut(string(text), End)
	if !found || !ended {
		return fmt.Errorf("write matrix: %w: %s lacks the lines %s and %s", ErrNoPlace, path, Begin, End)
	}
	text = []byte(before + Begin + "\n" + Markdown(r) + End + after)
	if err := os.WriteFile(path, text, 0o644); err != nil {
		return fmt.Errorf("write matrix: %w", err)
	}
	return nil
}
