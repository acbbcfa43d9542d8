package bench

import (
	"fmt"
	"strings"
)

// FigureChange is a figure that two runs have.
type FigureChange struct {
	Before, After *Figure
	Worse         bool
}

// String says what was and what is.
func (c FigureChange) String() string {
	return fmt.Sprintf("%s: %s, before %s", c.After.Name, c.After, c.Before)
}

// figuresSince compares figures that do not follow the machine: counts exactly, and ratios with their spreads, as rows are.
// Times and sizes alone are not compared: they change with whatever else runs, and with compilers.
func (r *Result) figuresSince(old *Result) []FigureChange {
	now := map[string]*Figure{}
	for i := range r.Figures {
		now[r.Figures[i].Name] = &r.Figures[i]
	}
	var out []FigureChange
	for i := range old.Figures {
		before := &old.Figures[i]
		after := now[before.Name]
		if after == nil || before.Value == nil || after.Value == nil || before.Unit != after.Unit || !before.Exact && before.Unit != Ratio {
			continue
		}
		out = append(out, FigureChange{before, after, after.worseThan(before)})
	}
	return out
}

// worseThan says whether quartiles do not even come near each other, or a count differs at all.
func (f *Figure) worseThan(before *Figure) bool {
	margin := 1 + Margin
	if f.Exact {
		margin = 1
	}
	if f.Better == More {
		return f.Value.High*margin < before.Value.Low
	}
	return f.Value.Low > before.Value.High*margin
}

// WorseFigures are those that have become worse.
func (c *Comparison) WorseFigures() []FigureChange {
	var worse []FigureChange
	for _, f := range c.Figures {
		if f.Worse {
			worse = append(worse, f)
		}
	}
	return worse
}

// Lines say what has become worse, a line for each row and figure.
func (c *Comparison) Lines() []string {
	var lines []string
	for _, row := range c.Worse() {
		lines = append(lines, row.String())
	}
	for _, f := range c.WorseFigures() {
		lines = append(lines, f.String())
	}
	return lines
}

// confirmFigures takes over, from a second run, the figures that are worse than in an older one and were not this time.
func (r *Result) confirmFigures(again, old *Result) {
	twice := map[string]bool{}
	for _, f := range again.figuresSince(old) {
		twice[f.After.Name] = f.Worse
	}
	for _, f := range r.figuresSince(old) {
		if worse, measured := twice[f.After.Name]; !f.Worse || !measured || worse {
			continue
		}
		for i := range again.Figures {
			if again.Figures[i].Name == f.After.Name {
				*f.After = again.Figures[i]
			}
		}
	}
}

// Op is the op that a figure is about, or empty: the second word of its name, if the first is that of a suite of ops.
func (f *Figure) Op() string {
	words := strings.Split(f.Name, "/")
	if len(words) < 3 || words[0] != CallFigures {
		return ""
	}
	return words[1]
}

// CallFigures is the first word in the names of figures of calls.
const CallFigures = "call"
