// Package mutate makes mutants of generated text: copies with one small error each. A test suite has to notice them.
//
// Nobody chooses mutants by hand. An operator is a pattern with a replacement, and each place where it matches is one
// mutant. C++ takes minutes to compile, so one library gets all its mutants, each behind a switch. The field calls this
// mutant schemata, and schemata.go writes them. Python needs no compiler, so its mutants are edits of a file.
package mutate

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Operator is one way to spoil code. The operators are in operators/*.toml and in adaptors/*/mutants.toml.
type Operator struct {
	// Kind names the operator in reports, Doc says what error it plants.
	Kind string `toml:"kind"`
	Doc  string `toml:"doc"`
	// Files is a glob over slash paths of the project, in which NAME stands for the collection.
	Files string `toml:"files"`
	// Pattern finds the places; in C++ it sees one statement at a time. Replace is the new text, with $1 or ${name}
	// for groups and, where Each is set, $EACH.
	Pattern string `toml:"pattern"`
	Replace string `toml:"replace"`
	// Among restricts the first group to names that this pattern finds as its own first group anywhere in the file.
	Among string `toml:"among"`
	// Each makes one mutant per name that this pattern finds in the file as its first group; it becomes $EACH.
	Each string `toml:"each"`
	// Op takes the op's name from the last match before the place, where the name of the file does not tell.
	Op string `toml:"op"`
	// Expect are the checks that should notice.
	Expect []string `toml:"expect"`
	// Optional says that a project may well have no place for the operator; any other operator without one is a mistake.
	Optional bool `toml:"optional"`
	// Dirty says that its mutants may spoil memory, so that a process that saw one is good for nothing else.
	Dirty bool `toml:"dirty"`
	// Equivalent are the places whose mutants no call can tell from the original, in any project.
	Equivalent []Equivalent `toml:"equivalent"`
	// Emulated says that its mutants show on a GPU only: they are judged on the emulated device.
	Emulated bool `toml:"emulated"`
}

// Equivalent says of a place that a mutant there does what the original does.
type Equivalent struct {
	// Before is a pattern that the original text has.
	Before string `toml:"before"`
	Reason string `toml:"reason"`
}

// EquivalentReason says why no call can tell the mutant from the original; empty if its operator knows no reason.
func (m *Mutant) EquivalentReason() string {
	for _, e := range m.Operator.Equivalent {
		if regexp.MustCompile(e.Before).MatchString(m.Before) {
			return e.Reason
		}
	}
	return ""
}

// Mutant is one small error, planted on purpose.
type Mutant struct {
	// ID is "op/layer/kind/number"; it is stable as long as the generated text is.
	ID string
	// Number switches it on, from 1; only mutants in C++ have one.
	Number int
	Op     string
	File   string
	Line   int
	Before string
	After  string
	// Text is the statement, or the whole lines, in which the place lies.
	Text     string
	Operator *Operator
	// start and end are the bytes that an edit replaces.
	start, end int
}

// Layer is where the mutant lies: "backend", or the name of an adaptor.
func (m *Mutant) Layer() string { return layerOf(m.File) }

func layerOf(file string) string {
	parts := strings.Split(file, "/")
	if parts[0] == "adaptors" && len(parts) > 1 {
		return parts[1]
	}
	if strings.HasPrefix(file, "backend/python/") {
		return "python"
	}
	return "backend"
}

// Change is the text before and after, on one line.
func (m *Mutant) Change() string {
	after := strings.Join(strings.Fields(m.After), " ")
	if after == "" {
		after = "(nothing)"
	}
	return strings.Join(strings.Fields(m.Before), " ") + " → " + after
}

// opOf is the op that a place belongs to; empty where it serves all of them.
func (o *Operator) opOf(file, text string, at int, ops []string) string {
	if o.Op != "" {
		found := regexp.MustCompile(o.Op).FindAllStringSubmatch(text[:at], -1)
		if len(found) > 0 {
			return found[len(found)-1][1]
		}
		return ""
	}
	name, _, _ := strings.Cut(path.Base(file), ".")
	if slices.Contains(ops, name) {
		return name
	}
	return ""
}

// names are the first groups of all matches of a pattern.
func names(pattern, text string) []string {
	var out []string
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		if !slices.Contains(out, m[1]) {
			out = append(out, m[1])
		}
	}
	return out
}

// place is one match of an operator: the bytes it replaces and what it puts there.
type place struct {
	start, end int
	after      string
}

// places are all matches of an operator in a part of a text; whole is the text that Among and Each look at.
func (o *Operator) places(part, whole string) []place {
	re := regexp.MustCompile(o.Pattern)
	each := []string{""}
	if o.Each != "" {
		each = names(o.Each, whole)
	}
	var out []place
	for _, m := range re.FindAllStringSubmatchIndex(part, -1) {
		if o.Among != "" && !slices.Contains(names(o.Among, whole), part[m[2]:m[3]]) {
			continue
		}
		for _, name := range each {
			replace := strings.ReplaceAll(o.Replace, "$EACH", name)
			after := string(re.ExpandString(nil, replace, part, m))
			if after != part[m[0]:m[1]] {
				out = append(out, place{m[0], m[1], after})
			}
		}
	}
	return out
}

// number gives the mutants their names: they are counted by op, layer and kind in the order of files and lines.
func number(mutants []*Mutant) {
	slices.SortStableFunc(mutants, func(a, b *Mutant) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.start, b.start))
	})
	count := map[string]int{}
	for _, m := range mutants {
		op := m.Op
		if op == "" {
			op = "any"
		}
		key := op + "/" + m.Layer() + "/" + m.Operator.Kind
		count[key]++
		m.ID = fmt.Sprintf("%s/%d", key, count[key])
	}
}

// around are the whole lines in which a place lies.
func around(text string, start, end int) string {
	first := strings.LastIndexByte(text[:start], '\n') + 1
	last := strings.IndexByte(text[end:], '\n')
	if last < 0 {
		return text[first:]
	}
	return text[first : end+last]
}

// line is the number of the line at which a byte stands.
func line(text string, at int) int { return 1 + strings.Count(text[:at], "\n") }
