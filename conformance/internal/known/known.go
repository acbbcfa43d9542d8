// Package known reads lists of what is expected to fail.
package known

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/opcast/opcast/internal/language/tomlfmt"

	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/internal/results/report"
)

// Failure is an expected failure: a gap that is accepted for now, with its reason.
type Failure struct {
	// Adaptor narrows entries of a file for several adaptors; empty means all of them.
	Adaptor string `toml:"adaptor"`
	Op      string `toml:"op"`
	Check   string `toml:"check"`
	Reason  string `toml:"reason"`
	Link    string `toml:"link"`
}

// Load reads conformance/known/<adaptor>.toml of a project; a missing file expects nothing.
func Load(dir, adaptor string) ([]Failure, error) {
	list, err := Read(filepath.Join(dir, "conformance", "known", adaptor+".toml"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return list, err
}

// Read reads a file of known failures.
func Read(path string) ([]Failure, error) {
	var file struct {
		Known []Failure `toml:"known"`
	}
	if err := Decode(path, &file); err != nil {
		return nil, err
	}
	for _, k := range file.Known {
		if k.Op == "" || k.Check == "" || strings.TrimSpace(k.Reason) == "" {
			return nil, fmt.Errorf("%s: an expected failure needs op, check and reason", path)
		}
	}
	return file.Known, nil
}

// Apply turns expected failures into skips, and their passing into a failure: inputs are seeded, so nothing is flaky.
func Apply(expected []Failure, c *check.Check, results []report.Result) {
	for _, k := range expected {
		if k.Check != c.ID || len(results) == 0 || results[0].Op != k.Op {
			continue
		}
		failed := false
		for i, r := range results {
			if r.Status == report.Fail {
				failed = true
				results[i].Status, results[i].Reason = report.Skip, strings.TrimSpace("known: "+k.Reason+" "+k.Link)
			}
		}
		if !failed && results[0].Status == report.Pass {
			results[0].Status = report.Fail
			results[0].Reason = "passes although it is listed as a known failure: remove it from the list"
		}
	}
}

// Decode reads a list; keys that it does not have are errors.
func Decode(path string, list any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read list: %w", err)
	}
	if err := tomlfmt.ReadStrictly(text, list); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
