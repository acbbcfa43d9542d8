package sass

import (
	"fmt"
	"slices"
	"strings"
)

// reasons stand in new exceptions, for whoever reads the kernel next to replace by the real one, or to remove with the cause.
var reasons = map[Kind]string{
	Generic: "the compiler does not know the memory",
	Call:    "not yet free of subroutines",
	Narrow:  "scalar, not yet vectorised",
	FP64:    "not yet in floats",
}

// Allow gives a source the exceptions that its findings need: those that it has stay as they are, without kinds for which there is
// no finding any more, and new ones stand below them, or below the comment with which the file begins.
func Allow(name, text string, findings []Finding) (string, error) {
	has, err := Exceptions(name, text)
	if err != nil {
		return "", err
	}
	lines := strings.SplitAfter(text, "\n")
	at := headEnd(lines)
	keep := make([]string, 0, len(lines))
	for i, line := range lines {
		e := slices.IndexFunc(has, func(e Exception) bool { return e.Line == i+1 })
		switch {
		case e < 0:
			keep = append(keep, line)
		default:
			if line = has[e].needed(findings); line != "" {
				keep = append(keep, line)
				at = len(keep)
			} else if len(keep) < at {
				at--
			}
		}
	}
	var added []string
	for _, f := range findings {
		if !slices.ContainsFunc(has, func(e Exception) bool { return e.allows(f) }) {
			added = append(added, fmt.Sprintf("// sass: allows %s in %s: %s (%s)\n", f.Kind, f.Kernel, reasons[f.Kind], f.Detail))
		}
	}
	return strings.Join(slices.Insert(keep, at, added...), ""), nil
}

// headEnd is the index of the first line behind the comment with which a file begins.
func headEnd(lines []string) int {
	for i, line := range lines {
		if !strings.HasPrefix(line, "//") {
			return i
		}
	}
	return len(lines)
}

// needed is the line of an exception with the kinds for which there are findings; empty if there are none.
func (e *Exception) needed(findings []Finding) string {
	var kinds []string
	for _, kind := range e.Kinds {
		one := Exception{Kinds: []Kind{kind}, Kernel: e.Kernel}
		if slices.ContainsFunc(findings, one.allows) {
			kinds = append(kinds, string(kind))
		}
	}
	if kinds == nil {
		return ""
	}
	return fmt.Sprintf("// sass: allows %s in %s: %s\n", strings.Join(kinds, ", "), e.Kernel, e.Reason)
}
