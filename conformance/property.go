package conformance

import (
	"flag"
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// propertyName is what rapid calls the property; no folder of files with failures has this name.
const propertyName = "opcast-property"

// shrinkTime bounds the search for a smaller failing case.
const shrinkTime = "20s"

// rapidFlags is held while rapid runs: its settings are flags of the whole program, and two sessions may be at work.
var rapidFlags sync.Mutex

// hunt is what became of a property.
type hunt struct {
	// tried counts the examples that were valid.
	tried int
	// failed says that one fails; the property has seen the smallest last.
	failed bool
}

// falsify looks for an example that breaks a property, and for a small one among those. The same seed, which is not zero,
// gives the same examples. The property draws from its argument and returns false if it is broken, or whether its example
// is no example at all.
func falsify(seed uint64, examples int, property func(*rapid.T) (holds, valid bool)) (hunt, error) {
	if err := outsideOfTests(); err != nil {
		return hunt{}, err
	}
	rapidFlags.Lock()
	defer rapidFlags.Unlock()
	for name, value := range map[string]string{
		"seed": strconv.FormatUint(seed, 10), "checks": strconv.Itoa(examples), "shrinktime": shrinkTime, "nofailfile": "true",
	} {
		if err := flag.Set("rapid."+name, value); err != nil {
			return hunt{}, fmt.Errorf("set up rapid: %w", err)
		}
	}
	var s hunt
	q := &quiet{}
	rapid.Check(q, func(t *rapid.T) {
		holds, valid := property(t)
		switch {
		case !valid:
			t.SkipNow()
		case !holds:
			s.failed = true
			t.Fatalf("broken") // one text for all: rapid takes failures with one text for the same
		}
		s.tried++
	})
	if q.failed && !s.failed && strings.Contains(q.text, "panic") {
		return s, fmt.Errorf("property: %s", q.text)
	}
	return s, nil
}

// outsideOfTests makes package testing usable in a program that is no test: rapid asks it whether tests shall be short.
func outsideOfTests() error {
	if flag.Parsed() {
		return nil
	}
	testing.Init()
	if err := flag.CommandLine.Parse(nil); err != nil {
		return fmt.Errorf("set up rapid: %w", err)
	}
	return nil
}

// seedOf is a seed for what has a name; never zero, with which rapid would choose one.
func seedOf(seed uint64, name string) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d/%s", seed, name)
	return max(h.Sum64()>>1, 1) // rapid adds to it
}

// quiet is a test as rapid sees it. What rapid says is not heard: the property tells of failures itself.
type quiet struct {
	failed bool
	text   string
}

// Helper does nothing.
func (*quiet) Helper() {}

// Name is that of the property.
func (*quiet) Name() string { return propertyName }

// Logf says nothing.
func (*quiet) Logf(string, ...any) {}

// Log says nothing.
func (*quiet) Log(...any) {}

// Skipf does nothing: rapid skips examples, not tests.
func (*quiet) Skipf(string, ...any) {}

// Skip does nothing.
func (*quiet) Skip(...any) {}

// SkipNow does nothing.
func (*quiet) SkipNow() {}

// Errorf remembers that rapid found something.
func (q *quiet) Errorf(format string, args ...any) {
	q.failed, q.text = true, fmt.Sprintf(format, args...)
}

// Error remembers it.
func (q *quiet) Error(...any) { q.failed = true }

// Fatalf remembers it.
func (q *quiet) Fatalf(string, ...any) { q.failed = true }

// Fatal remembers it.
func (q *quiet) Fatal(...any) { q.failed = true }

// FailNow remembers it; it is the last thing that rapid does.
func (q *quiet) FailNow() { q.failed = true }

// Fail remembers it.
func (q *quiet) Fail() { q.failed = true }

// Failed says whether rapid found something.
func (q *quiet) Failed() bool { return q.failed }
