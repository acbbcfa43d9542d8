package sass

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Kind is something slow that hot loops must not have.
type Kind string

// The kinds: accesses whose address may be of any memory, calls of subroutines such as the division of 64-bit integers, loads of one
// or two bytes of global memory, and arithmetic on doubles.
const (
	Generic Kind = "generic"
	Call    Kind = "call"
	Narrow  Kind = "narrow"
	FP64    Kind = "fp64"
)

// Kinds are all of them.
var Kinds = []Kind{Generic, Call, Narrow, FP64}

// Finding is a kind of instruction in the hot loops of a kernel.
type Finding struct {
	Kind Kind
	// Source is the file, Kernel the short name.
	Source, Kernel string
	// Count is how many such instructions there are in the loop that has most; Detail says which.
	Count  int
	Detail string
	// Instances are how many kernels of that name have them, as templates make them.
	Instances int
}

// String is one line.
func (f Finding) String() string {
	text := fmt.Sprintf("%s: %s: %s in a hot loop: %s", f.Source, f.Kernel, f.Kind, f.Detail)
	if f.Instances > 1 {
		text += fmt.Sprintf(", in %d of its instances", f.Instances)
	}
	return text
}

// Check finds what is slow in the hot loops of kernels, one finding for each kind and name of a file.
func Check(list []Function) []Finding {
	type key struct {
		source, kernel string
		kind           Kind
	}
	found := map[key]*Finding{}
	for i := range list {
		f := &list[i]
		worst := map[Kind]Finding{}
		for _, loop := range f.HotLoops() {
			for kind, one := range slow(&loop.All) {
				if one.Count > worst[kind].Count {
					worst[kind] = one
				}
			}
		}
		for kind, one := range worst {
			k := key{f.Source, f.Short(), kind}
			if found[k] == nil {
				found[k] = &Finding{Kind: kind, Source: f.Source, Kernel: f.Short()}
			}
			found[k].Instances++
			if one.Count > found[k].Count {
				found[k].Count, found[k].Detail = one.Count, one.Detail
			}
		}
	}
	keys := slices.SortedFunc(maps.Keys(found), func(a, b key) int {
		return strings.Compare(a.source+" "+a.kernel+" "+string(a.kind), b.source+" "+b.kernel+" "+string(b.kind))
	})
	var out []Finding
	for _, k := range keys {
		out = append(out, *found[k])
	}
	return out
}

// slow is what a loop has of each kind.
func slow(m *Mix) map[Kind]Finding {
	found := map[Kind]Finding{}
	if m.Generic > 0 {
		found[Generic] = Finding{Count: m.Generic, Detail: count(m.Generic, "generic access", "generic accesses")}
	}
	if m.Narrow > 0 {
		found[Narrow] = Finding{Count: m.Narrow, Detail: count(m.Narrow, "load", "loads") + " of one or two bytes"}
	}
	if m.FP64 > 0 {
		found[FP64] = Finding{Count: m.FP64, Detail: count(m.FP64, "instruction", "instructions") + " on doubles"}
	}
	calls := 0
	for _, n := range m.Calls {
		calls += n
	}
	if calls > 0 {
		names := strings.Join(slices.Sorted(maps.Keys(m.Calls)), ", ")
		found[Call] = Finding{Count: calls, Detail: count(calls, "call", "calls") + " of " + names}
	}
	return found
}

func count(n int, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprint(n, " ", several)
}

// Exception is a line of a source that allows kinds of instructions in the hot loops of a kernel:
//
//	// sass: allows fp64, call in RowsKernel: rows near the end of float's range are computed in double
type Exception struct {
	Kinds          []Kind
	Kernel, Reason string
	Line           int
}

var (
	exceptionLine = regexp.MustCompile(`^// sass: allows ([\w, ]+) in (\S+): (\S.*)$`)
	meantLine     = regexp.MustCompile(`^\s*//\s*sass:`)
)

// Exceptions reads those of a source. Lines that are meant as such and are none are an error.
func Exceptions(name, text string) (list []Exception, err error) {
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimRight(line, "\r\n")
		m := exceptionLine.FindStringSubmatch(line)
		if m == nil {
			if meantLine.MatchString(line) {
				return nil, fmt.Errorf("%s:%d: expected a line such as \"// sass: allows fp64, call in Kernel: reason\", got %q", name, number, line)
			}
			continue
		}
		e := Exception{Kernel: m[2], Reason: m[3], Line: number}
		for word := range strings.SplitSeq(m[1], ",") {
			kind := Kind(strings.TrimSpace(word))
			if !slices.Contains(Kinds, kind) {
				return nil, fmt.Errorf("%s:%d: unknown kind %q: there are generic, call, narrow, fp64", name, number, kind)
			}
			e.Kinds = append(e.Kinds, kind)
		}
		list = append(list, e)
	}
	return list, nil
}

// Judged is what remains when exceptions are taken into account.
type Judged struct {
	// Forbidden are findings that no exception allows; Allowed are the others.
	Forbidden, Allowed []Finding
	// Stale are exceptions that allow what no kernel has any more, in words.
	Stale []string
}

// Judge holds findings against the exceptions of their sources.
func Judge(findings []Finding, exceptions map[string][]Exception) (j Judged) {
	for _, f := range findings {
		if slices.ContainsFunc(exceptions[f.Source], func(e Exception) bool { return e.allows(f) }) {
			j.Allowed = append(j.Allowed, f)
		} else {
			j.Forbidden = append(j.Forbidden, f)
		}
	}
	for _, source := range slices.Sorted(maps.Keys(exceptions)) {
		for _, e := range exceptions[source] {
			for _, kind := range e.Kinds {
				one := Exception{Kinds: []Kind{kind}, Kernel: e.Kernel}
				if !slices.ContainsFunc(findings, func(f Finding) bool { return f.Source == source && one.allows(f) }) {
					j.Stale = append(j.Stale, fmt.Sprintf("%s:%d: %s has no %s in a hot loop: remove the exception", source, e.Line, e.Kernel, kind))
				}
			}
		}
	}
	return j
}

func (e *Exception) allows(f Finding) bool {
	return e.Kernel == f.Kernel && slices.Contains(e.Kinds, f.Kind)
}

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
