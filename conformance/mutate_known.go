package conformance

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/opcast/opcast/internal/mutate"
	"github.com/opcast/opcast/internal/report"
)

// Equivalent says of some mutants that they are no faults: no call can tell them from the original.
type Equivalent struct {
	// Op, Layer and Kind are those of the mutants; "*" stands for any.
	Op    string `toml:"op"`
	Layer string `toml:"layer"`
	Kind  string `toml:"kind"`
	// Before is a part of the lines in which the place lies; empty for any.
	Before string `toml:"before"`
	Reason string `toml:"reason"`

	used bool
}

// equivalentFile is where a project lists them.
const equivalentFile = "conformance/known/mutants.toml"

// loadEquivalent reads the list of a project; a missing file lists nothing.
func loadEquivalent(dir string) ([]Equivalent, error) {
	path := filepath.Join(dir, filepath.FromSlash(equivalentFile))
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("equivalent mutants: %w", err)
	}
	var file struct {
		Equivalent []Equivalent `toml:"equivalent"`
	}
	dec := toml.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&file); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
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
		(e.Kind == "*" || e.Kind == x.Operator.Kind) && strings.Contains(x.Text, e.Before)
}

// applyEquivalent gives a survivor that is listed its reason. One that is listed and was killed is a mistake in the list.
func (m *mutation) applyEquivalent(x *mutate.Mutant, v *report.Mutant) {
	if reason := x.SameReason(); reason != "" {
		settleEquivalent(v, reason, "its operator")
		return
	}
	for i := range m.known {
		e := &m.known[i]
		if !e.matches(x) {
			continue
		}
		e.used = true
		settleEquivalent(v, e.Reason, equivalentFile)
		return
	}
}

// settleEquivalent changes the verdict on a mutant that is listed as equivalent somewhere.
func settleEquivalent(v *report.Mutant, reason, where string) {
	switch v.Verdict {
	case survived:
		v.Verdict, v.Reason = equivalent, reason
	case killed:
		v.Verdict = survived
		v.Reason = fmt.Sprintf("listed as equivalent in %s, but %s noticed it: %s", where, v.By, v.Reason)
	}
}
