package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

type junitSuites struct {
	XMLName xml.Name     `xml:"testsuites"`
	Suites  []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Time     float64     `xml:"time,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string      `xml:"classname,attr"`
	Name    string      `xml:"name,attr"`
	File    string      `xml:"file,attr,omitempty"`
	Line    int         `xml:"line,attr,omitempty"`
	Time    float64     `xml:"time,attr"`
	Failure *junitWords `xml:"failure"`
	Error   *junitWords `xml:"error"`
	Skipped *junitWords `xml:"skipped"`
}

type junitWords struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// WriteJUnit writes one test suite per op, one test case per result.
func (r *Report) WriteJUnit(w io.Writer) error {
	byOp, order := map[string]*junitSuite{}, []string{}
	for _, result := range r.Results {
		suite := byOp[result.Op]
		if suite == nil {
			suite = &junitSuite{Name: result.Op}
			byOp[result.Op] = suite
			order = append(order, result.Op)
		}
		suite.add(result)
	}
	var all junitSuites
	if text := r.InterruptionText(); text != "" {
		// CI systems show a test case that was skipped; of properties they show nothing.
		suite := junitSuite{Name: "opcast"}
		suite.add(Result{Op: "opcast", Adaptor: "run", Group: "Run", Check: "interrupted", Status: Skip, Reason: text})
		all.Suites = append(all.Suites, suite)
	}
	for _, op := range order {
		all.Suites = append(all.Suites, *byOp[op])
	}
	text, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return fmt.Errorf("junit: %w", err)
	}
	if _, err := fmt.Fprintf(w, "%s%s\n", xml.Header, text); err != nil {
		return fmt.Errorf("write junit: %w", err)
	}
	return nil
}

func (s *junitSuite) add(r Result) {
	c := junitCase{
		Class: r.Op + "." + r.Adaptor, Name: r.Title(), File: r.File, Line: r.Line, Time: r.Seconds,
	}
	words := &junitWords{Message: FirstLine(r.Reason), Text: r.Reason}
	switch r.Status {
	case Fail:
		c.Failure = words
		s.Failures++
	case Error:
		c.Error = words
		s.Errors++
	case Skip, Unsupported:
		c.Skipped = words
		s.Skipped++
	}
	s.Tests++
	s.Time += r.Seconds
	s.Cases = append(s.Cases, c)
}

// Title names the check, with kernel and dtypes where it has them: "Values: value [gemm, T = float16]".
func (r Result) Title() string {
	title := r.Group + ": " + r.Check
	switch {
	case r.Kernel != "" && r.DType != "":
		return title + " [" + r.Kernel + ", " + r.DType + "]"
	case r.Kernel+r.DType != "":
		return title + " [" + r.Kernel + r.DType + "]"
	}
	return title
}

// FirstLine is the first line of a text.
func FirstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
