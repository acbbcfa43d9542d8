package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// event is one line of `go test -json`.
type event struct {
	Action, Package, Test, Output, ImportPath string
	Elapsed                                   float64
}

// counts are numbers of tests that are no mere groups of others.
type counts struct{ passed, failed, skipped int }

func (c *counts) add(o counts) {
	c.passed, c.failed, c.skipped = c.passed+o.passed, c.failed+o.failed, c.skipped+o.skipped
}

// String is the closing line that tools look for.
func (c counts) String() string {
	return fmt.Sprintf("%d passed, %d failed, %d skipped", c.passed, c.failed, c.skipped)
}

// test is what is known of one running test; the empty name stands for its package.
type test struct {
	output []string
	// group says that it has subtests, which are counted in its place.
	group bool
	// specs are the results of a Ginkgo suite that ran inside, counted in its place, too.
	specs *counts
}

// summary collects a stream of events.
type summary struct {
	out     io.Writer
	total   counts
	pkg     map[string]*counts
	tests   map[string]map[string]*test // package, name
	running map[string]time.Time
}

func newSummary(out io.Writer) *summary {
	return &summary{out, counts{}, map[string]*counts{}, map[string]map[string]*test{}, map[string]time.Time{}}
}

// parse reads one line. A line that is no event, such as a message of the go command, is shown.
func (s *summary) parse(line []byte) {
	var e event
	if json.Unmarshal(line, &e) != nil || e.Action == "" {
		fmt.Fprintln(s.out, string(line))
		return
	}
	s.handle(e)
}

func (s *summary) handle(e event) {
	switch e.Action {
	case "start":
		s.running[e.Package] = time.Now()
	case "build-output":
		fmt.Fprint(s.out, e.Output)
	case "output":
		s.collect(e)
	case "run":
		if parent, _, ok := cutLast(e.Test); ok {
			s.test(e.Package, parent).group = true
		}
		s.test(e.Package, e.Test)
	case "pass", "fail", "skip":
		s.finish(e)
	}
}

func cutLast(name string) (before, after string, found bool) {
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		return name[:i], name[i+1:], true
	}
	return name, "", false
}

func (s *summary) test(pkg, name string) *test {
	if s.tests[pkg] == nil {
		s.tests[pkg], s.pkg[pkg] = map[string]*test{}, &counts{}
	}
	if s.tests[pkg][name] == nil {
		s.tests[pkg][name] = &test{}
	}
	return s.tests[pkg][name]
}

var (
	colour      = regexp.MustCompile("\x1b\\[[0-9;]*m")
	ginkgoTotal = regexp.MustCompile(`-- (\d+) Passed \| (\d+) Failed \| (\d+) Pending \| (\d+) Skipped`)
	// noise is what the go command and the conformance suite print about each test, whatever its result.
	noise = regexp.MustCompile(`^\s*(=== |--- PASS|--- FAIL|--- SKIP|PASS|FAIL|ok  |(pass|skip|unsupported)  )`)
)

// note begins a line that a test wants to be seen whether it passes or not.
const note = "note: "

func (s *summary) collect(e event) {
	t := s.test(e.Package, e.Test)
	line := colour.ReplaceAllString(e.Output, "")
	if m := ginkgoTotal.FindStringSubmatch(line); m != nil {
		n := make([]int, len(m))
		for i := range m[1:] {
			n[i], _ = strconv.Atoi(m[i+1]) // digits, says the pattern
		}
		t.specs = &counts{n[0], n[1], n[2] + n[3]}
	}
	switch {
	case strings.HasPrefix(line, note):
		fmt.Fprint(s.out, "  "+line)
	case !noise.MatchString(line):
		t.output = append(t.output, line)
	}
}

// finish counts a test, or closes a package.
func (s *summary) finish(e event) {
	t := s.test(e.Package, e.Test)
	switch {
	case e.Test == "":
		s.finishPackage(e, t)
	case t.specs != nil:
		s.pkg[e.Package].add(*t.specs)
	case !t.group:
		s.pkg[e.Package].add(one(e.Action))
	}
	if e.Test != "" && (!t.group || len(t.output) > 0) {
		s.show(e, t)
	}
}

// show prints a line about a test that failed, was skipped or took long.
func (s *summary) show(e event, t *test) {
	name := packagePath(e.Package) + "  " + e.Test
	switch {
	case e.Action == "fail":
		fmt.Fprintf(s.out, "FAIL  %s\n%s", name, strings.Join(t.output, ""))
	case e.Action == "skip":
		fmt.Fprintf(s.out, "skip  %s\n%s", name, strings.Join(t.output, ""))
	case e.Elapsed >= slow:
		fmt.Fprintf(s.out, "  ok  %s  %.1f s\n", name, e.Elapsed)
	}
}

// slow is the number of seconds from which a test has a line of its own.
const slow = 3

func (s *summary) finishPackage(e event, t *test) {
	delete(s.running, e.Package)
	c := s.pkg[e.Package]
	if e.Action == "fail" && c.failed == 0 { // it did not compile, crashed or hung
		c.failed++
		fmt.Fprintf(s.out, "FAIL  %s\n%s", packagePath(e.Package), strings.Join(t.output, ""))
	}
	s.total.add(*c)
	if *c != (counts{}) {
		fmt.Fprintf(s.out, "%-4s  %-24s %s  %.1f s\n", map[bool]string{true: "ok", false: "FAIL"}[c.failed == 0],
			packagePath(e.Package), c, e.Elapsed)
	}
}

func one(action string) counts {
	return map[string]counts{"pass": {passed: 1}, "fail": {failed: 1}, "skip": {skipped: 1}}[action]
}

// waiting names what has run for a while, so that a long silence explains itself.
func (s *summary) waiting(now time.Time) {
	var names []string
	for pkg, since := range s.running {
		names = append(names, fmt.Sprintf("%s (%.0f s)", packagePath(pkg), now.Sub(since).Seconds()))
	}
	if slices.Sort(names); len(names) > 0 {
		fmt.Fprintf(s.out, "  …   running: %s\n", strings.Join(names, ", "))
	}
}

// packagePath is the path of a package without the name of the module.
func packagePath(pkg string) string {
	parts := strings.Split(pkg, "/")
	return path.Join(parts[min(3, len(parts)-1):]...)
}

// errRed is the verdict over a run with failures, or without tests.
var errRed = errors.New("not every test passed")

// run reads events until the input ends and prints the closing line.
func run(in io.Reader, out io.Writer, beat <-chan time.Time) error {
	lines, scanErr := make(chan []byte), error(nil)
	go func() {
		defer close(lines)
		scanner := bufio.NewScanner(in)
		scanner.Buffer(nil, 64<<20)
		for scanner.Scan() {
			lines <- slices.Clone(scanner.Bytes())
		}
		scanErr = scanner.Err()
	}()
	s := newSummary(out)
	for open := true; open; {
		var line []byte
		select {
		case line, open = <-lines:
			if open {
				s.parse(line)
			}
		case now := <-beat:
			s.waiting(now)
		}
	}
	fmt.Fprintln(out, s.total)
	if scanErr != nil {
		return fmt.Errorf("read events: %w", scanErr)
	}
	if s.total.failed > 0 || s.total.passed == 0 {
		return errRed
	}
	return nil
}
