package conformance

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/opcast/opcast/internal/report"
)

// errAccounted ends a case of which all is said: the row has its failure, or the reason why it cannot be expressed, or there
// is no such case. It is no error of the suite: whatever goes through several cases goes on with the next one.
var errAccounted = errors.New("accounted for")

// proceed turns errAccounted into nil, for whoever goes on behind a case that has ended.
func proceed(err error) error {
	if errors.Is(err, errAccounted) {
		return nil
	}
	return err
}

// forEach runs a body for every item until one gives an error; an item that is accounted for does not end the others.
func forEach[E any](items []E, body func(item E) error) error {
	for _, item := range items {
		if err := proceed(body(item)); err != nil {
			return err
		}
	}
	return nil
}

// row is the outcome with one kernel and choice of dtypes.
type row struct {
	kernel, dtypes string
	failures       []string
	// unsupported holds why some cases could not be expressed; done counts the calls that were judged, so that nothing passes
	// idly.
	unsupported string
	done        int
	start       time.Time
	seconds     float64
	// remark says what a row that passes has left out.
	remark string
	// seed repeats the row's random choices; reproducer is the script of its first failure, relative to the report.
	seed, reproducer string
}

// Row starts a result of its own for what follows.
func (t *T) Row(kernel, dtypes string) {
	t.finishRow()
	t.kernel, t.dtypes, t.latest = kernel, dtypes, nil
	start := time.Now()
	if len(t.rows) == 0 && !t.began.IsZero() {
		start = t.began // what comes before the first row belongs to it
	}
	t.rows = append(t.rows, row{kernel: kernel, dtypes: dtypes, start: start})
}

func (t *T) finishRow() {
	if n := len(t.rows); n > 0 {
		t.rows[n-1].seconds = time.Since(t.rows[n-1].start).Seconds()
	}
}

func (t *T) row() *row {
	if len(t.rows) == 0 {
		t.Row("", "")
	}
	return &t.rows[len(t.rows)-1]
}

// maxFailures bounds what one row tells; the rest says the same.
const maxFailures = 4

// Fail records a failure of a call.
func (t *T) Fail(call *Call, name, format string, args ...any) {
	t.failAt(call, nil, name, fmt.Sprintf(format, args...))
}

// failAt records a failure of a call at an element of a result; nil where it is of the whole.
func (t *T) failAt(call *Call, at *element, name, text string) {
	r := t.row()
	switch {
	case len(r.failures) < maxFailures:
		text = name + ": " + text
		r.failures = append(r.failures, text+t.reproduced(call, at, name, text))
	case len(r.failures) == maxFailures:
		r.failures = append(r.failures, "… and more")
	}
}

// results turns the rows, or the error that ended the check, into report entries.
func (t *T) results(check *Check, err error) []report.Result {
	t.row()
	t.finishRow()
	err = proceed(err)
	var out []report.Result
	for i, r := range t.rows {
		entry := report.Result{
			Op: t.Op.Name, Adaptor: t.Caller.Name(), Kernel: r.kernel, DType: r.dtypes, Group: check.Group, Check: check.ID,
			Status: report.Pass, Reason: r.remark, Seconds: r.seconds, File: t.Op.File, Line: 1, Seed: r.seed, Reproducer: r.reproducer,
		}
		switch {
		case len(r.failures) > 0:
			entry.Status, entry.Reason = report.Fail, strings.Join(r.failures, "\n")
		case r.done == 0 && r.unsupported != "":
			entry.Status, entry.Reason = report.Unsupported, r.unsupported
		case r.done == 0 && err == nil:
			entry.Status, entry.Reason = report.Skip, "the definition gives nothing to check here"
		}
		if i == len(t.rows)-1 || isStop(err) && entry.Status == report.Pass {
			entry.Status, entry.Reason = ended(entry.Status, entry.Reason, err)
		}
		out = append(out, entry)
	}
	return out
}

func isStop(err error) bool {
	var s *stop
	return errors.As(err, &s)
}

// ended applies the error that ended a check to its last row; that a check does not apply holds for all.
func ended(status report.Status, reason string, err error) (report.Status, string) {
	if err == nil {
		return status, reason
	}
	text := err.Error()
	end := report.Error
	var s *stop
	if errors.As(err, &s) {
		text, end = s.reason, s.status
	} else if crash, died := crashText(err); died {
		text, end = crash, report.Fail
	}
	if reason != "" {
		text = reason + "\n" + text
	}
	return report.Worse(status, end), text
}
