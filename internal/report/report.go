// Package report holds the results of a conformance run and writes them as JSON, JUnit XML, one HTML page and a summary.
package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
)

// Schema is the version of report.json.
const Schema = 1

// Status is the outcome of one check.
type Status string

// The outcomes. Error means that the suite broke, not the op; unsupported that the adaptor's framework cannot express
// what the check needs.
const (
	Pass        Status = "pass"
	Fail        Status = "fail"
	Error       Status = "error"
	Skip        Status = "skip"
	Unsupported Status = "unsupported"
)

// severity orders the outcomes from harmless to grave.
var severity = []Status{Pass, Unsupported, Skip, Fail, Error}

// Worse returns the graver of two outcomes; the empty outcome is the most harmless.
func Worse(a, b Status) Status {
	if slices.Index(severity, b) > slices.Index(severity, a) {
		return b
	}
	return a
}

// Result is the outcome of one check of one op through one adaptor, with one kernel and one choice of dtypes where the
// check distinguishes them.
type Result struct {
	Op      string  `json:"op"`
	Adaptor string  `json:"adaptor"`
	Kernel  string  `json:"kernel,omitempty"`
	DType   string  `json:"dtype,omitempty"`
	Group   string  `json:"group"`
	Check   string  `json:"check"`
	Status  Status  `json:"status"`
	Reason  string  `json:"reason,omitempty"`
	Seconds float64 `json:"seconds"`
	// File and Line are the definition's place.
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
}

// Report is a run.
type Report struct {
	Schema        int               `json:"schema"`
	SuiteVersion  string            `json:"suite_version"`
	Collection    string            `json:"collection"`
	OpdefsDigest  string            `json:"opdefs_digest"`
	LibrarySHA256 string            `json:"library_sha256"`
	Device        string            `json:"device"`
	Adaptors      map[string]string `json:"adaptors"`
	Results       []Result          `json:"results"`
}

// Sort orders the results by op, adaptor, group, check, kernel and dtype.
func (r *Report) Sort() {
	slices.SortStableFunc(r.Results, func(a, b Result) int {
		return cmp.Or(
			cmp.Compare(a.Op, b.Op), cmp.Compare(a.Adaptor, b.Adaptor), cmp.Compare(a.Group, b.Group),
			cmp.Compare(a.Check, b.Check), cmp.Compare(a.Kernel, b.Kernel), cmp.Compare(a.DType, b.DType))
	})
}

// WriteJSON writes report.json.
func (r *Report) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(r); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// Summary counts outcomes. Errors count as failed, unsupported combinations as skipped.
type Summary struct{ Passed, Failed, Skipped int }

// String is the closing line of a run.
func (s Summary) String() string {
	return fmt.Sprintf("%d passed, %d failed, %d skipped", s.Passed, s.Failed, s.Skipped)
}

// OK reports whether nothing failed and something ran.
func (s Summary) OK() bool { return s.Failed == 0 && s.Passed > 0 }

// Add counts one outcome.
func (s *Summary) Add(status Status) {
	switch status {
	case Pass:
		s.Passed++
	case Skip, Unsupported:
		s.Skipped++
	default:
		s.Failed++
	}
}

// Summary counts the results.
func (r *Report) Summary() Summary {
	var s Summary
	for _, result := range r.Results {
		s.Add(result.Status)
	}
	return s
}

// Cell is what the results of one op through one adaptor come to.
type Cell struct {
	Status Status
	Summary
	Bad []Result
}

// Matrix returns the names of ops and adaptors, sorted, and the cell of each pair that has results.
func (r *Report) Matrix() (ops, adaptors []string, cells map[[2]string]*Cell) {
	cells = map[[2]string]*Cell{}
	for _, result := range r.Results {
		key := [2]string{result.Op, result.Adaptor}
		cell := cells[key]
		if cell == nil {
			cell = &Cell{}
			cells[key] = cell
		}
		cell.Status = Worse(cell.Status, result.Status)
		cell.Add(result.Status)
		if result.Status == Fail || result.Status == Error {
			cell.Bad = append(cell.Bad, result)
		}
		ops, adaptors = append(ops, result.Op), append(adaptors, result.Adaptor)
	}
	slices.Sort(ops)
	slices.Sort(adaptors)
	return slices.Compact(ops), slices.Compact(adaptors), cells
}
