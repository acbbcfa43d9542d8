package conformance

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/opcast/opcast/internal/report"
)

// Known is an expected failure: a gap that is accepted for now, with its reason.
type Known struct {
	// Adaptor narrows entries of a file for several adaptors; empty means all of them.
	Adaptor string `toml:"adaptor"`
	Op      string `toml:"op"`
	Check   string `toml:"check"`
	Reason  string `toml:"reason"`
	Link    string `toml:"link"`
}

// loadKnown reads the known failures of an adaptor: those of the file that the options name, or of the project.
func (s *session) loadKnown(adaptor string) ([]Known, error) {
	if s.options.Known == "" {
		list, err := loadKnown(s.options.Project.Dir, adaptor)
		return list, errors.Join(err, s.possible(list, adaptor))
	}
	list, err := readKnown(s.options.Known)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInput, err)
	}
	var out []Known
	for _, k := range list {
		if k.Adaptor == "" || k.Adaptor == adaptor {
			out = append(out, k)
		}
	}
	return out, s.possible(list, "")
}

// possible returns an error for the first entry that no result can match, in a file of one adaptor or, without a name, of
// several: it would never be noticed.
func (s *session) possible(list []Known, adaptor string) error {
	callers := everyone(s.options.Project, s.env.foreign)
	for _, k := range list {
		p := pattern{k.Op, cmp.Or(k.Adaptor, adaptor, "*"), k.Check}
		if k.Op == "*" || k.Check == "*" || adaptor != "" && p[1] != adaptor || !p.exists(s.options.Project.Ops, callers, s.env.foreign) {
			return fmt.Errorf("known failure %q: %w: it names no check of an op", strings.Join(p[:], " "), ErrUnknown)
		}
	}
	return nil
}

// loadKnown reads conformance/known/<adaptor>.toml of a project; a missing file expects nothing.
func loadKnown(dir, adaptor string) ([]Known, error) {
	list, err := readKnown(filepath.Join(dir, "conformance", "known", adaptor+".toml"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return list, err
}

// readKnown reads a file of known failures.
func readKnown(path string) ([]Known, error) {
	var file struct {
		Known []Known `toml:"known"`
	}
	if err := readTOML(path, &file); err != nil {
		return nil, err
	}
	for _, k := range file.Known {
		if k.Op == "" || k.Check == "" || strings.TrimSpace(k.Reason) == "" {
			return nil, fmt.Errorf("%s: an expected failure needs op, check and reason", path)
		}
	}
	return file.Known, nil
}

// applyKnown turns expected failures into skips, and their passing into a failure: inputs are seeded, so nothing is flaky.
func applyKnown(known []Known, check *Check, results []report.Result) {
	for _, k := range known {
		if k.Check != check.ID || len(results) == 0 || results[0].Op != k.Op {
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

// readTOML reads a list; keys that it does not have are errors.
func readTOML(path string, list any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read list: %w", err)
	}
	dec := toml.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(list); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
