package check

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/opcast/opcast/conformance/calls"
	"github.com/opcast/opcast/internal/report"
	"github.com/opcast/opcast/internal/rpc"
)

// ErrAccounted ends a case about which the row holds everything: its failure, or the reason why it cannot be
// expressed, or there is no such case. It is no error of the suite: whatever goes through several cases goes on with
// the next one.
var ErrAccounted = errors.New("accounted for")

// Proceed turns ErrAccounted into nil, for whoever goes on behind a case that has ended.
func Proceed(err error) error {
	if errors.Is(err, ErrAccounted) {
		return nil
	}
	return err
}

// ForEach runs a body for every item until one gives an error; an item that is accounted for does not end the others.
func ForEach[E any](items []E, body func(item E) error) error {
	for _, item := range items {
		if err := Proceed(body(item)); err != nil {
			return err
		}
	}
	return nil
}

// Row is the outcome with one kernel and choice of dtypes.
type Row struct {
	Kernel, DTypes string
	Failures       []string
	// Unsupported holds why some cases could not be expressed; Checked counts the calls that were judged, so that
	// nothing passes idly.
	Unsupported string
	Checked     int
	start       time.Time
	seconds     float64
	// Note says what a row that passes has left out.
	Note string
	// Seed repeats the row's random choices; Reproducer is the script of its first failure, relative to the report.
	Seed, Reproducer string
}

// StartRow starts a result of its own for what follows.
func (t *T) StartRow(kernel, dtypes string) {
	t.finishRow()
	t.kernel, t.dtypes, t.LastTransformation = kernel, dtypes, nil
	start := time.Now()
	if len(t.Rows) == 0 && !t.Started.IsZero() {
		start = t.Started // what comes before the first row belongs to it
	}
	t.Rows = append(t.Rows, Row{Kernel: kernel, DTypes: dtypes, start: start})
}

func (t *T) finishRow() {
	if n := len(t.Rows); n > 0 {
		t.Rows[n-1].seconds = time.Since(t.Rows[n-1].start).Seconds()
	}
}

// CurrentRow is the row to which outcomes are added; the first one starts by itself.
func (t *T) CurrentRow() *Row {
	if len(t.Rows) == 0 {
		t.StartRow("", "")
	}
	return &t.Rows[len(t.Rows)-1]
}

// MaxFailures bounds what one row tells; the rest says the same.
const MaxFailures = 4

// Fail records a failure of a call.
func (t *T) Fail(call *calls.Call, name, format string, args ...any) {
	t.failAt(call, nil, name, fmt.Sprintf(format, args...))
}

// failAt records a failure of a call at an element of a result; nil where it is of the whole.
func (t *T) failAt(call *calls.Call, at *Element, name, text string) {
	r := t.CurrentRow()
	switch {
	case len(r.Failures) < MaxFailures:
		text = name + ": " + text
		r.Failures = append(r.Failures, text+t.Reproduced(call, at, name, text))
	case len(r.Failures) == MaxFailures:
		r.Failures = append(r.Failures, "… and more")
	}
}

// Results turns the rows, or the error that ended the check, into report entries.
func (t *T) Results(check *Check, err error) []report.Result {
	t.CurrentRow()
	t.finishRow()
	err = Proceed(err)
	var out []report.Result
	for i, r := range t.Rows {
		entry := report.Result{
			Op: t.Op.Name, Adaptor: t.Caller.Name(), Kernel: r.Kernel, DType: r.DTypes, Group: check.Group, Check: check.ID,
			Status: report.Pass, Reason: r.Note, Seconds: r.seconds, File: t.Op.File, Line: 1, Seed: r.Seed, Reproducer: r.Reproducer,
		}
		switch {
		case len(r.Failures) > 0:
			entry.Status, entry.Reason = report.Fail, strings.Join(r.Failures, "\n")
		case r.Checked == 0 && r.Unsupported != "":
			entry.Status, entry.Reason = report.Unsupported, r.Unsupported
		case r.Checked == 0 && err == nil:
			entry.Status, entry.Reason = report.Skip, "the definition gives nothing to check here"
		}
		if i == len(t.Rows)-1 || isEarlyEnd(err) && entry.Status == report.Pass {
			entry.Status, entry.Reason = withEnd(entry.Status, entry.Reason, err)
		}
		out = append(out, entry)
	}
	return out
}

func isEarlyEnd(err error) bool {
	var s *EarlyEnd
	return errors.As(err, &s)
}

// withEnd applies the error that ended a check to its last row; that a check does not apply holds for all.
func withEnd(status report.Status, reason string, err error) (report.Status, string) {
	if err == nil {
		return status, reason
	}
	text := err.Error()
	end := report.Error
	var s *EarlyEnd
	if errors.As(err, &s) {
		text, end = s.Reason, s.status
	} else if crash, died := crashText(err); died {
		text, end = crash, report.Fail
	}
	if reason != "" {
		text = reason + "\n" + text
	}
	return report.Worse(status, end), text
}

// crashText is the failure text of a call that ended the process.
func crashText(err error) (string, bool) {
	var crash *rpc.CrashError
	if errors.As(err, &crash) {
		return "the process died: " + crash.Error(), true
	}
	return "", false
}
