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
const Schema = 2

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

// known reports whether it is one of the outcomes.
func (s Status) known() bool { return slices.Contains(severity, s) }

// Bad reports whether the outcome is a failure, of the op or of the suite.
func (s Status) Bad() bool { return s == Fail || s == Error }

// Result is the outcome of one check of one op through one adaptor, with one kernel and one choice of dtypes where the
// check distinguishes them.
type Result struct {
	Op      string `json:"op"`
	Adaptor string `json:"adaptor"`
	Kernel  string `json:"kernel,omitempty"`
	DType   string `json:"dtype,omitempty"`
	Group   string `json:"group"`
	Check   string `json:"check"`
	Status  Status `json:"status"`
	Reason  string `json:"reason,omitempty"`
	// Cause is what makes other checks of the op fail, too; empty for a failure that only this check can see.
	Cause   string  `json:"cause,omitempty"`
	Seconds float64 `json:"seconds"`
	// Seed repeats the random choices of the check; Reproducer is a script that repeats the failing call, relative to the
	// report's folder.
	Seed       string `json:"seed,omitempty"`
	Reproducer string `json:"reproducer,omitempty"`
	// File and Line are the definition's place.
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
}

// Key identifies a result between runs.
type Key struct{ Op, Adaptor, Group, Check, Kernel, DType string }

// Key is the identity of the result.
func (r *Result) Key() Key { return Key{r.Op, r.Adaptor, r.Group, r.Check, r.Kernel, r.DType} }

// Report is a run.
type Report struct {
	Schema        int               `json:"schema"`
	SuiteVersion  string            `json:"suite_version"`
	Collection    string            `json:"collection"`
	OpdefsDigest  string            `json:"opdefs_digest"`
	LibrarySHA256 string            `json:"library_sha256"`
	Device        string            `json:"device"`
	Adaptors      map[string]string `json:"adaptors"`
	// Environment is what else results may depend on: processor, cores, system, Python, the tool's version.
	Environment map[string]string `json:"environment,omitempty"`
	// Started is when the run began, in RFC 3339; Seconds how long it took by the clock.
	Started string  `json:"started,omitempty"`
	Seconds float64 `json:"seconds,omitempty"`
	// Interrupted says that the run was stopped before its end; nil where it was not.
	Interrupted *Interruption `json:"interrupted,omitempty"`
	Results     []Result      `json:"results"`
	// Causes groups the failed results; Sort does that.
	Causes []Cause `json:"causes,omitempty"`
	// ULPs are the errors that were measured, Mutants those of a mutation run, Versions the environments of a
	// version matrix, Timings the comparisons with an existing kernel.
	ULPs     []ULPs    `json:"ulps,omitempty"`
	Mutants  []Mutant  `json:"mutants,omitempty"`
	Versions []Version `json:"versions,omitempty"`
	Timings  []Timing  `json:"timings,omitempty"`
	// Random are the figures of the random calls.
	Random []Random `json:"random,omitempty"`
	// Checks describes the checks that ran, in the order of the suite.
	Checks []Check `json:"checks,omitempty"`
	// Changes compares with the report that was in the folder before.
	Changes *Changes `json:"changes,omitempty"`
}

// Check describes a check.
type Check struct {
	ID    string `json:"id"`
	Group string `json:"group"`
	// Profile is fast, core or extended; Doc says what must hold.
	Profile string `json:"profile,omitempty"`
	Doc     string `json:"doc"`
}

// ULPs is the distribution of the errors of one output against the float64 reference, in units in the last place of the
// output's dtype, over all value checks of one op through one adaptor with one kernel and one choice of dtypes.
type ULPs struct {
	Op      string `json:"op"`
	Adaptor string `json:"adaptor"`
	Kernel  string `json:"kernel,omitempty"`
	DType   string `json:"dtype,omitempty"`
	Output  string `json:"output"`
	// Bins counts elements by error: exactly 0, up to 0.5, 1, 2, 4, 8, … ulp; the last bin has no upper end.
	Bins []int64 `json:"bins"`
	// Worst is the error of the element that comes closest to its tolerance, which is Allowed in words; Share is the part of
	// the tolerance that it uses. The largest float64 stands for an infinite error. The element is at Index, where Got
	// stands for Want (texts, since JSON has no NaN).
	Allowed string  `json:"allowed"`
	Worst   float64 `json:"worst"`
	Share   float64 `json:"share"`
	Index   []int64 `json:"index"`
	Got     string  `json:"got"`
	Want    string  `json:"want"`
}

// Mutant is one error planted on purpose, and the check that noticed it.
type Mutant struct {
	// ID is unique and stable: "rms_norm/backend/drop-rule/12".
	ID      string `json:"id"`
	Op      string `json:"op"`
	Adaptor string `json:"adaptor"`
	// Kind is the operator that made it, Where the file and line, Change the text before and after.
	Kind   string `json:"kind"`
	Where  string `json:"where"`
	Change string `json:"change"`
	// Verdict is killed, survived, equivalent or unsupported; By the check that failed, Expected the checks that should.
	Verdict  string   `json:"verdict"`
	By       string   `json:"by,omitempty"`
	Expected []string `json:"expected,omitempty"`
	// Reason says why a mutant is equivalent or unsupported, or how it was noticed.
	Reason  string  `json:"reason,omitempty"`
	Seconds float64 `json:"seconds"`
}

// Version is one environment of a version matrix and what came of the run in it.
type Version struct {
	Name    string            `json:"name"`
	Python  string            `json:"python"`
	Have    map[string]string `json:"have"`
	Profile string            `json:"profile"`
	// LibrarySHA256 is that of the library which was loaded there.
	LibrarySHA256 string `json:"library_sha256"`
	Passed        int    `json:"passed"`
	Failed        int    `json:"failed"`
	Skipped       int    `json:"skipped"`
	// Reason says why the environment could not be made or run.
	Reason  string  `json:"reason,omitempty"`
	Seconds float64 `json:"seconds"`
}

// Timing compares an op with an existing kernel on one input: medians of the same process, in microseconds. Ratio is
// ours over theirs: below one, the op is the faster.
type Timing struct {
	Op      string  `json:"op"`
	Adaptor string  `json:"adaptor"`
	Case    string  `json:"case"`
	Ours    float64 `json:"ours_us"`
	Theirs  float64 `json:"theirs_us"`
	Ratio   float64 `json:"ratio"`
}

// Random is what random calls of one op came to.
type Random struct {
	Op      string `json:"op"`
	Adaptor string `json:"adaptor"`
	Seed    uint64 `json:"seed"`
	// Calls were made, Reached of them started a kernel, and Raised counts the errors of the others by class.
	Calls   int64            `json:"calls"`
	Reached int64            `json:"reached"`
	Raised  map[string]int64 `json:"raised,omitempty"`
	// Live and Resident are how much the process grew after the first calls, in bytes: what malloc has given out and not got
	// back, and physical memory.
	Live     int64 `json:"live_bytes"`
	Resident int64 `json:"resident_bytes"`
}

// Sort orders the results by op, adaptor, group, check, kernel and dtype, and what was measured in the same way. It groups
// the failed ones by their causes.
func (r *Report) Sort() {
	defer func() { r.Causes = Causes(r.Results) }()
	slices.SortStableFunc(r.Results, func(a, b Result) int {
		return cmp.Or(
			cmp.Compare(a.Op, b.Op), cmp.Compare(a.Adaptor, b.Adaptor), cmp.Compare(a.Group, b.Group),
			cmp.Compare(a.Check, b.Check), cmp.Compare(a.Kernel, b.Kernel), cmp.Compare(a.DType, b.DType))
	})
	slices.SortStableFunc(r.ULPs, func(a, b ULPs) int {
		return cmp.Or(cmp.Compare(a.Op, b.Op), cmp.Compare(a.Adaptor, b.Adaptor), cmp.Compare(a.Output, b.Output),
			cmp.Compare(a.Kernel, b.Kernel), cmp.Compare(a.DType, b.DType))
	})
	slices.SortStableFunc(r.Random, func(a, b Random) int {
		return cmp.Or(cmp.Compare(a.Op, b.Op), cmp.Compare(a.Adaptor, b.Adaptor))
	})
}

// WriteJSON writes report.json.
func (r *Report) WriteJSON(w io.Writer) error {
	r.finite()
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
