// Package diag describes what is wrong in a file that the user wrote (position, text, code and hint), and words such texts.
package diag

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Pos is a place in a file. Line and Col count from 1; zero means unknown.
type Pos struct {
	File      string
	Line, Col int
}

// String formats the position as file:line:col, leaving out what is unknown.
func (p Pos) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Col)
}

// Diagnostic is one mistake in a definition or manifest.
type Diagnostic struct {
	Pos
	// Code identifies the kind of mistake ("E014"); codes are documented and never reused.
	Code string
	// Text says what is wrong, Hint what to do about it.
	Text, Hint string
	// Note says that it is no mistake, but something that the author may want to know.
	Note bool
}

// String formats the diagnostic on one line, with its hint on a second.
func (d Diagnostic) String() string {
	kind := "error"
	if d.Note {
		kind = "note"
	}
	s := fmt.Sprintf("%s: %s: %s [%s]", d.Pos, kind, d.Text, d.Code)
	if d.Hint != "" {
		s += "\n  hint: " + d.Hint
	}
	return s
}

// List collects diagnostics; the zero value is ready to use.
type List []Diagnostic

// Add appends a diagnostic with a formatted text. Control characters, which a quoted name may hold, become spaces.
func (l *List) Add(pos Pos, code, hint, format string, args ...any) {
	*l = append(*l, Diagnostic{Pos: pos, Code: code, Text: oneLine(fmt.Sprintf(format, args...)), Hint: oneLine(hint)})
}

// AddNote appends a note, which is no mistake.
func (l *List) AddNote(pos Pos, code, hint, format string, args ...any) {
	l.Add(pos, code, hint, format, args...)
	(*l)[len(*l)-1].Note = true
}

// Printable is a text as it may be shown: what is no character that can be seen is written as in a string of Go, "\x1b".
func Printable(text string) string {
	if !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		quoted := strconv.Quote(text)
		text = strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(quoted[1 : len(quoted)-1])
	}
	return text
}

func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
}

// Sorted returns the diagnostics ordered by file, line and column.
func (l List) Sorted() List {
	out := slices.Clone(l)
	slices.SortStableFunc(out, func(a, b Diagnostic) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
	})
	return out
}

// Print writes the diagnostics in order, one or two lines each.
func (l List) Print(w io.Writer) error {
	for _, d := range l.Sorted() {
		if _, err := fmt.Fprintln(w, d); err != nil {
			return fmt.Errorf("print diagnostics: %w", err)
		}
	}
	return nil
}
