// Package audit judges libraries and wheels before they go to other people's machines: whether they will load there, and whether
// they leave the process that loads them alone.
//
// A library is judged by what the loader reads of it (package elfcheck), so that stripping changes nothing.
package audit

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/system/elfcheck"
)

// DefaultStandard is the set of systems that is meant where rules name none.
const DefaultStandard = elfcheck.DefaultStandard

// Rules say what a library may do.
type Rules struct {
	// Standard is the set of systems on which it must load, by the name in the tags of wheels; empty means DefaultStandard.
	Standard string
	// Exports are beginnings of names that it may export, beside those of the entry points that every such library has.
	Exports []string
	// Needed are libraries that users have, beside those of the standard and of frameworks, by the beginnings of their names.
	Needed []string
}

// Facts are what a library is, whether or not that is in order.
type Facts struct {
	// File is the path or the name in the wheel, Name what the library calls itself. As in all that a file's author chose, control
	// characters and the like are written as "\x1b".
	File string `json:"file"`
	Name string `json:"name"`
	// Machine is the one that it is for, as in the tags of wheels.
	Machine string `json:"machine"`
	// Needed are the libraries that are loaded with it, Search the folders that it adds to the search for them.
	Needed []string `json:"needed"`
	Search []string `json:"search"`
	// Versions are the highest versions of symbols that it needs, by the words before the underscore.
	Versions map[string]string `json:"versions"`
	// Hosts count the symbols that it expects from programs and frameworks: "tvm-ffi", "torch", "python".
	Hosts map[string]int `json:"hosts"`
	// Exports is the number of names that it exports.
	Exports int `json:"exports"`
	// DeviceCode lists the code for GPUs in it: "sm_90", "compute_90", "gfx90a".
	DeviceCode []string `json:"device_code"`
	// Stripped says that it has no symbols for debuggers.
	Stripped bool `json:"stripped"`
}

// WheelFacts are what a wheel calls itself.
type WheelFacts struct {
	Distribution string   `json:"distribution"`
	Version      string   `json:"version"`
	Tags         []string `json:"tags"`
	// Files is the number of files in it.
	Files int `json:"files"`
}

// Report is the judgement of a file.
type Report struct {
	File      string      `json:"file"`
	Wheel     *WheelFacts `json:"wheel,omitempty"`
	Libraries []Facts     `json:"libraries"`
	Findings  diag.List   `json:"-"`
}

// standard is the set of systems of the rules.
func (r Rules) standard() (*elfcheck.Standard, error) {
	name := cmp.Or(r.Standard, DefaultStandard)
	if s := elfcheck.FindStandard(name); s != nil {
		return s, nil
	}
	return nil, fmt.Errorf("%w %q: known are %s", ErrUnknownStandard, name, strings.Join(elfcheck.Standards(), ", "))
}

// ErrUnknownStandard says that rules name a standard that does not exist.
var ErrUnknownStandard = errors.New("unknown standard")

// File judges a library or a wheel. What cannot be read as either is a finding; an error is only what keeps the file from being
// looked at.
func File(path string, rules Rules) (*Report, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("audit: %s is no file", path)
	}
	head := make([]byte, 4)
	_, _ = f.ReadAt(head, 0) // a shorter file is neither
	if filepath.Ext(path) == ".whl" || bytes.Equal(head, []byte("PK\x03\x04")) {
		return Wheel(path, f, info.Size(), rules)
	}
	return Library(path, f, info.Size(), rules)
}

// Library judges a shared library of some bytes.
func Library(name string, r io.ReaderAt, size int64, rules Rules) (*Report, error) {
	standard, err := rules.standard()
	if err != nil {
		return nil, err
	}
	report := &Report{File: diag.Printable(name), Libraries: []Facts{}}
	j := judge{rules: rules, standard: standard, report: report}
	j.library(name, "", r, size)
	return report, nil
}
