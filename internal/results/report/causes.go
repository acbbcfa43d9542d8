package report

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Causes that checks of all kinds notice. The grave ones explain others: who writes outside of an array may end the process
// anywhere, later.
const (
	CauseOutside = "the kernel writes outside of its arrays"
	CauseHangs   = "a call hangs"
	CauseDies    = "a call ends its process"
	CauseStarts  = "the process of a caller does not start"
	CauseDiffers = "results differ from the reference"
)

var graveCauses = []string{CauseStarts, CauseDies, CauseHangs, CauseOutside}

// Cause is what makes results of one op fail: one mistake is noticed by many checks, with every dtype, in every framework.
type Cause struct {
	Op string `json:"op"`
	// Text says what the results have in common; Hint what follows from which of them failed.
	Text string `json:"text"`
	Hint string `json:"hint,omitempty"`
	// Results is the number of failed results. The lists name what they are of, in the order of the report.
	Results  int      `json:"results"`
	Checks   []string `json:"checks"`
	Adaptors []string `json:"adaptors"`
	Kernels  []string `json:"kernels,omitempty"`
	// First is the first line of the first of them.
	First string `json:"first"`
}

// number is what differs between the errors of two calls.
var number = regexp.MustCompile(`\d+`)

// causeText is the cause of a failed result. What only one check notices is a cause of its own.
func (r *Result) causeText() string { return cmp.Or(r.Cause, "check "+r.Check+" fails") }

// CauseKey identifies the cause of a failed result, whatever its numbers.
func (r *Result) CauseKey() [2]string {
	return [2]string{r.Op, number.ReplaceAllString(r.causeText(), "0")}
}

// Causes groups the failed results. The grave causes come first, then those that spoil most.
func Causes(results []Result) []Cause {
	var out []*Cause
	by := map[[2]string]*Cause{}
	for i := range results {
		r := &results[i]
		if !r.Status.Bad() {
			continue
		}
		key := r.CauseKey()
		c := by[key]
		if c == nil {
			c = &Cause{Op: r.Op, Text: r.causeText(), First: FirstLine(r.Reason)}
			by[key] = c
			out = append(out, c)
		}
		c.Results++
		c.Checks, c.Adaptors, c.Kernels = with(c.Checks, r.Check), with(c.Adaptors, r.Adaptor), with(c.Kernels, r.Kernel)
	}
	slices.SortStableFunc(out, func(a, b *Cause) int {
		grave := slices.Index(graveCauses, b.Text) - slices.Index(graveCauses, a.Text)
		return cmp.Or(grave, b.Results-a.Results)
	})
	list := make([]Cause, len(out))
	for i, c := range out {
		c.Hint = hint(c, results)
		list[i] = *c
	}
	return list
}

// with adds a word to a list that lacks it.
func with(list []string, word string) []string {
	if word == "" || slices.Contains(list, word) {
		return list
	}
	return append(list, word)
}

// hint says what the outcomes of other kernels tell about a cause: a mistake of a kernel shows in that kernel only.
func hint(c *Cause, results []Result) string {
	if len(c.Kernels) == 0 || c.Text != CauseDiffers && !slices.Contains(graveCauses, c.Text) {
		return ""
	}
	var right []string
	for i := range results {
		r := &results[i]
		if r.Op == c.Op && r.Status == Pass && slices.Contains(c.Checks, r.Check) && !slices.Contains(c.Kernels, r.Kernel) {
			right = with(right, r.Kernel)
		}
	}
	switch own := kernels(c.Kernels); {
	case len(right) > 0:
		return fmt.Sprintf("only with %s: the same checks pass with %s", own, kernels(right))
	case c.Text == CauseDiffers && len(c.Kernels) > 1:
		return fmt.Sprintf("with %s alike: is the reference right?", own)
	case c.Text == CauseDiffers:
		return fmt.Sprintf("with %s: either is wrong", own)
	default:
		return "with " + own
	}
}

func kernels(names []string) string {
	if len(names) == 1 {
		return "kernel " + names[0]
	}
	return "kernels " + strings.Join(names, ", ")
}

// shownNames is how many names of a list are printed.
const shownNames = 4

// names lists a few names, and how many there are beside them.
func names(list []string) string {
	if more := len(list) - shownNames; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(list[:shownNames], ", "), more)
	}
	return strings.Join(list, ", ")
}

// Lines are a cause for a terminal: what, how much of the run it spoils, and the first result.
func (c *Cause) Lines() []string {
	counted := "1 result"
	if c.Results > 1 {
		counted = fmt.Sprintf("%d results", c.Results)
	}
	head := fmt.Sprintf("%s: %s: %s", c.Op, c.Text, counted)
	if c.Hint != "" {
		head += ", " + c.Hint
	}
	return []string{head, "  of " + names(c.Checks) + "; through " + names(c.Adaptors)}
}
