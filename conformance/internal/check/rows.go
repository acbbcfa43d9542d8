package check

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/oracle"
	"github.com/opcast/opcast/internal/results/report"
	"github.com/opcast/opcast/internal/system/rpc"
)

// ErrAccounted ends a case about which the row holds everything: its failure, or the reason why it cannot be
// expressed, or there is no such case. It is no error of the suite: whatever goes through several cases goes on with
// the next one.
var ErrAccounted = errors.New("accounted for")

// errHung ends a check in which a call hung: the others of it would hang as well, for as long. The row holds the failure.
var errHung = errors.New("a call hung")

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
	// Cause is what its first failure says that other checks notice, too; empty for what only this check looks at.
	Cause string
	// Died counts the calls that ended their process, Hung says that one gave no answer in time.
	Died int
	Hung bool
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

// FailBecause records a failure of a call of which other checks notice the same cause: one that package report names, or an
// error that was raised.
func (t *T) FailBecause(cause string, call *calls.Call, name, format string, args ...any) {
	t.because(cause)
	t.Fail(call, name, format, args...)
}

// because says which cause the failure has that comes next.
func (t *T) because(cause string) {
	if r := t.CurrentRow(); len(r.Failures) == 0 {
		r.Cause = cause
	}
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
	if err = Proceed(err); errors.Is(err, errHung) {
		err = nil
	}
	err = t.withObstacle(err)
	var out []report.Result
	for i, r := range t.Rows {
		entry := report.Result{
			Op: t.Op.Name, Adaptor: t.Caller.Name(), Kernel: r.Kernel, DType: r.DTypes, Group: check.Group, Check: check.ID,
			Status: report.Pass, Reason: r.Note, Cause: r.Cause, Seconds: r.seconds, File: t.Op.File, Line: 1, Seed: r.Seed, Reproducer: r.Reproducer,
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
			if entry.Status, entry.Reason = withEnd(entry.Status, entry.Reason, err); err != nil && entry.Cause == "" {
				entry.Cause = causeOf(err)
			}
		}
		if !entry.Status.Bad() {
			entry.Cause = ""
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
	var reference *oracle.ReferenceError
	if errors.As(err, &reference) {
		text = err.Error() // even if it is the reference's process that died
	}
	if reason != "" {
		text = reason + "\n" + text
	}
	return report.Worse(status, end), text
}

// causeOf is the cause of an error that ended a check: what died, what the reference raised, or the first line of the error.
func causeOf(err error) string {
	var crash *rpc.CrashError
	var reference *oracle.ReferenceError
	switch {
	case isEarlyEnd(err):
		return ""
	case errors.As(err, &reference):
		return report.FirstLine(reference.Error())
	case errors.As(err, &crash):
		return crashCause(crash)
	}
	return report.FirstLine(err.Error())
}

func crashCause(crash *rpc.CrashError) string {
	switch {
	case crash.Unstarted:
		return report.CauseStarts
	case crash.Hung:
		return report.CauseHangs
	}
	if _, cause := reported(crash); cause != "" {
		return cause
	}
	return report.CauseDies
}

// sanitizerSays matches the line with which a sanitizer says what it found, and where.
var sanitizerSays = regexp.MustCompile(`(?m)^(?:SUMMARY: (\w+Sanitizer: .*)|((\S+:\d+: runtime error: [a-z ]*[a-z]).*))$`)

// reported is what a sanitizer said before it ended a process, and the cause without values; empty where none did.
func reported(crash *rpc.CrashError) (line, cause string) {
	if found := sanitizerSays.FindStringSubmatch(crash.Stderr); found != nil {
		return found[1] + found[2], found[1] + found[3]
	}
	return "", ""
}

// crashText is the failure text of a call that ended the process.
func crashText(err error) (string, bool) {
	var crash *rpc.CrashError
	switch {
	case !errors.As(err, &crash):
		return "", false
	case crash.Hung && crash.Stack != "":
		return fmt.Sprintf("the call hangs: %s; in the library, it is here, innermost first:\n%s\n%s", crash.Reason, crash.Stack, crash.Stderr), true
	case crash.Hung:
		return fmt.Sprintf("the call hangs: %s\n%s", crash.Reason, crash.Stderr), true
	}
	if line, _ := reported(crash); line != "" {
		return line + "\n" + strings.TrimPrefix(crash.Stderr, line+"\n"), true
	}
	return "the process died: " + crash.Error(), true
}

// Died counts the calls of the check that ended their processes, and says whether one of them hung.
func (t *T) Died() (died int, hung bool) {
	for _, r := range t.Rows {
		died, hung = died+r.Died, hung || r.Hung
	}
	return died, hung
}
