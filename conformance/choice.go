package conformance

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/report"
)

// ErrNothing means that nothing is left to run: the last run had no failure.
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
	// part, counted from 0, of parts; no parts means all.
	part, parts int
}

// newChoice reads what the options say about single specs.
func newChoice(o Options) (choice, error) {
	var c choice
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
		return nil, fmt.Errorf("specs to run: %w", err)
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

// lastFailed are the specs that failed in a report.
func lastFailed(path string) ([]pattern, error) {
	r, err := report.Read(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%w: there is no last run: %s does not exist", ErrNothing, path)
	}
	if err != nil {
		return nil, fmt.Errorf("last run: %w", err)
	}
	var out []pattern
	for _, result := range r.Results {
		p := pattern{result.Op, result.Adaptor, result.Check}
		if (result.Status == report.Fail || result.Status == report.Error) && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%w: the last run had no failure", ErrNothing)
	}
	return out, nil
}

func (c *choice) wants(op, adaptor, check string) bool {
	for _, list := range [][]pattern{c.only, c.failed, c.job} {
		if list != nil && !slices.ContainsFunc(list, func(p pattern) bool { return p.matches(op, adaptor, check) }) {
			return false
		}
	}
	return true
}

// idle returns the first line of the file that chooses nothing: a name in it is wrong.
func (c *choice) idle(cells []cell) error {
	for _, p := range c.only {
		found := slices.ContainsFunc(cells, func(cell cell) bool {
			return slices.ContainsFunc(cell.checks, func(check Check) bool {
				return p.matches(cell.op.Name, cell.caller.Name(), check.ID)
			})
		})
		if !found {
			return fmt.Errorf("spec %q: %w", strings.Join(p[:], " "), ErrUnknown)
		}
	}
	return nil
}

// cell is what the suite runs of one op through one caller; missing says why it cannot call at all.
type cell struct {
	op      *opdef.Op
	caller  Caller
	missing string
	checks  []Check
}

// cells are the chosen checks by op and caller. Shards take cells in turn, in another order for every op: neighbouring
// shards get about as much of each adaptor.
func (c *choice) cells(ops []*opdef.Op, callers []Caller, f *foreign) ([]cell, error) {
	var all, out []cell
	for i, op := range ops {
		for j, caller := range callers {
			if !f.offers(op, caller.Name()) {
				continue
			}
			all = append(all, cell{op: op, caller: caller, checks: f.checks(caller)})
			if c.parts > 0 && (i+j)%c.parts != c.part {
				continue
			}
			checks := slices.DeleteFunc(f.checks(caller), func(check Check) bool {
				return !c.wants(op.Name, caller.Name(), check.ID)
			})
			if len(checks) > 0 {
				out = append(out, cell{op: op, caller: caller, checks: checks})
			}
		}
	}
	if err := c.idle(all); err != nil {
		return nil, err
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%w: the options choose no spec", ErrNothing)
	}
	return out, nil
}
