package run

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/internal/language/framework"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/results/report"
)

// ErrNothing means that nothing is left to run: the last run had no failure, or there are more shards than work.
var ErrNothing = errors.New("nothing to run")

// pattern names specs by op, adaptor and check; each word may be "*".
type pattern [3]string

func (p pattern) matches(op, adaptor, check string) bool {
	for i, word := range [3]string{op, adaptor, check} {
		if p[i] != "*" && p[i] != word {
			return false
		}
	}
	return true
}

// choice says which specs of a run are made; the zero value chooses all.
type choice struct {
	// only, failed and job are lists of which one pattern must match; nil matches everything.
	only, failed, job []pattern
	// fast leaves all checks out but those of the profile.
	fast bool
	// part, counted from 0, of parts; no parts means all.
	part, parts int
}

// newChoice reads what the options say about single specs.
func newChoice(o Options) (choice, error) {
	c := choice{fast: o.Profile == check.ProfileFast}
	var err error
	if o.Only != "" {
		if c.only, err = readPatterns(o.Only); err != nil {
			return c, err
		}
	}
	if o.Shard != "" {
		if c.part, c.parts, err = shard(o.Shard); err != nil {
			return c, err
		}
	}
	if o.LastFailed {
		c.failed, err = lastFailed(filepath.Join(o.ReportDir, "report.json"))
	}
	return c, err
}

// readPatterns reads a file with a line "op adaptor check" for each choice; # begins a comment.
func readPatterns(path string) ([]pattern, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("specs to run: %w: %w", ErrInput, err)
	}
	out := []pattern{}
	for i, line := range strings.Split(string(text), "\n") {
		line, _, _ = strings.Cut(line, "#")
		switch words := strings.Fields(line); len(words) {
		case 0:
		case 3:
			out = append(out, pattern(words))
		default:
			return nil, fmt.Errorf("%s:%d: %w: expected \"op adaptor check\", got %q", path, i+1, ErrUnknown, strings.TrimSpace(line))
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%w: %s has no line \"op adaptor check\"", ErrUsage, path)
	}
	return out, nil
}

// shard reads "i/n".
func shard(text string) (part, parts int, err error) {
	first, second, _ := strings.Cut(text, "/")
	part, err = strconv.Atoi(first)
	if err == nil {
		parts, err = strconv.Atoi(second)
	}
	if err != nil || part < 1 || part > parts {
		return 0, 0, fmt.Errorf("shard %q: %w: expected \"i/n\" with 1 ≤ i ≤ n", text, ErrUnknown)
	}
	return part - 1, parts, nil
}

// lastFailed are the specs that failed in a report, or before it where it was interrupted before they ran again.
func lastFailed(path string) ([]pattern, error) {
	r, err := report.Read(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%w: there is no last run: %s does not exist", ErrUsage, path)
	}
	if err != nil {
		return nil, fmt.Errorf("last run: %w: %w", ErrInput, err)
	}
	var out []pattern
	for _, failed := range r.Failed() {
		out = append(out, pattern{failed.Op, failed.Adaptor, failed.Check})
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%w: the last run had no failure", ErrNothing)
	}
	return out, nil
}

func (c *choice) selects(op, adaptor, check string) bool {
	for _, list := range [][]pattern{c.only, c.failed, c.job} {
		if list != nil && !slices.ContainsFunc(list, func(p pattern) bool { return p.matches(op, adaptor, check) }) {
			return false
		}
	}
	return true
}

// checkPatterns returns an error for the first line of the file that names no check of any op through any caller. One
// that names what other options leave out is right: a file may serve several runs.
func (c *choice) checkPatterns(ops []*opdef.Op, callers []string, f *check.ForeignCode) error {
	for _, p := range c.only {
		if !p.exists(ops, callers, f) {
			return fmt.Errorf("spec %q: %w", strings.Join(p[:], " "), ErrUnknown)
		}
	}
	return nil
}

// exists reports whether a pattern names at least one spec.
func (p pattern) exists(ops []*opdef.Op, callers []string, f *check.ForeignCode) bool {
	return slices.ContainsFunc(callers, func(caller string) bool {
		checks := ChecksOf(caller, f.Callables())
		return slices.ContainsFunc(ops, func(op *opdef.Op) bool {
			return slices.ContainsFunc(checks, func(c check.Check) bool { return p.matches(op.Name, caller, c.ID) })
		})
	})
}

// allCallers are all who can call in some run: a function can be named for each framework.
func allCallers(p *opdef.Project, f *check.ForeignCode) []string {
	names := callerNames(nil, p)
	if f.Callables() {
		names = framework.Names()
	}
	return append([]string{calls.DefinitionName}, names...)
}
