package mutants

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/opcast/opcast/conformance/internal/known"
	"github.com/opcast/opcast/conformance/internal/mutate"
	"github.com/opcast/opcast/internal/results/report"
)

// Equivalent says of some mutants that no call can tell them from the original.
type Equivalent struct {
	// Op, Layer and Kind are those of the mutants; "*" stands for any.
	Op    string `toml:"op"`
	Layer string `toml:"layer"`
	Kind  string `toml:"kind"`
	// Before is a part of the lines in which the place lies; empty for any.
	Before string `toml:"before"`
	// After is a part of the new text; empty for any.
	After  string `toml:"after"`
	Reason string `toml:"reason"`

	used bool
}

// EquivalentFile is where a project lists them.
const EquivalentFile = "conformance/known/mutants.toml"

// LoadEquivalent reads the list of a project; a missing file lists nothing.
func LoadEquivalent(dir string) ([]Equivalent, error) {
	path := filepath.Join(dir, filepath.FromSlash(EquivalentFile))
	var file struct {
		Equivalent []Equivalent `toml:"equivalent"`
	}
	if err := known.Decode(path, &file); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	for _, e := range file.Equivalent {
		if e.Op == "" || e.Layer == "" || e.Kind == "" || strings.TrimSpace(e.Reason) == "" {
			return nil, fmt.Errorf("%s: an equivalent mutant needs op, layer, kind and reason", path)
		}
	}
	return file.Equivalent, nil
}

// matches reports whether an entry is about a mutant.
func (e *Equivalent) matches(x *mutate.Mutant) bool {
	op := x.Op
	if op == "" {
		op = "any"
	}
	return (e.Op == "*" || e.Op == op) && (e.Layer == "*" || e.Layer == x.Layer()) &&
		(e.Kind == "*" || e.Kind == x.Operator.Kind) && strings.Contains(x.Text, e.Before) && strings.Contains(x.After, e.After)
}

// ApplyEquivalent gives a survivor that is listed its reason. One that is listed and was killed is a mistake in the list.
func (m *Runner) ApplyEquivalent(x *mutate.Mutant, v *report.Mutant) {
	if reason := x.EquivalentReason(); reason != "" {
		settleEquivalent(v, reason, "its operator")
		return
	}
	if e := m.equivalentEntry(x); e != nil {
		e.used = true
		settleEquivalent(v, e.Reason, EquivalentFile)
	}
}

// equivalentEntry is the entry about a mutant; nil if there is none.
func (m *Runner) equivalentEntry(x *mutate.Mutant) *Equivalent {
	for i := range m.Known {
		if e := &m.Known[i]; e.matches(x) {
			return e
		}
	}
	return nil
}

// unusedEntries are the entries that are about no mutant of a run of all.
func (m *Runner) unusedEntries() error {
	var errs []error
	for _, e := range m.Known {
		if !e.used {
			errs = append(errs, fmt.Errorf("%w: an entry of %s is about no mutant: op %q, layer %q, kind %q, before %q",
				ErrSurvived, EquivalentFile, e.Op, e.Layer, e.Kind, e.Before))
		}
	}
	return errors.Join(errs...)
}

// settleEquivalent changes the verdict on a mutant that is listed as equivalent somewhere.
func settleEquivalent(v *report.Mutant, reason, where string) {
	switch v.Verdict {
	case report.Survived:
		v.Verdict, v.Reason = report.Equivalent, reason+" ("+v.Reason+")"
	case report.Killed:
		v.Verdict = report.Survived
		v.Reason = fmt.Sprintf("listed as equivalent in %s, but %s noticed it: %s", where, v.By, v.Reason)
	}
}
