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
	File string `json:"file"`
	Line int    `json:"line"`
	Col  int    `json:"col"`
}

// String formats the position as file:line:col, leaving out what is unknown.
func (p Pos) String() string {
	file := Printable(p.File)
	if p.Line == 0 {
		return file
	}
	return fmt.Sprintf("%s:%d:%d", file, p.Line, p.Col)
}

// Diagnostic is one mistake in a definition or manifest, in JSON, too.
type Diagnostic struct {
	Pos
	// Code identifies the kind of mistake ("E014"); codes are documented and never reused.
	Code string `json:"code"`
	// Text says what is wrong, Hint what to do about it.
	Text string `json:"text"`
	Hint string `json:"hint,omitempty"`
	// Note says that it is no mistake, but something that the author may want to know.
	Note bool `json:"-"`
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

// Sorted returns the diagnostics ordered by file, line and column. There is a list where there are none, too.
func (l List) Sorted() List {
	out := append(List{}, l...)
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

// maxWord is the length of the longest word that is compared: the work grows with the product of two lengths.
const maxWord = 64

// DidYouMean returns a hint that names the candidate which a misspelt word most likely means. Where no candidate is near,
// it returns the text of otherwise.
func DidYouMean(word string, candidates []string, otherwise string) string {
	if best := Nearest(word, candidates); best != "" {
		return fmt.Sprintf("did you mean %q?", best)
	}
	return otherwise
}

// Nearest returns the candidate that a misspelt word most likely means, or "". Of two that are equally near it prefers
// the one with the same first letter. Where none is near, the only one that begins in the same way is meant: "attrs" by
// "attributes".
func Nearest(word string, candidates []string) string {
	best, bound := "", min(len(word), max(1, len(word)/3)+1)
	for _, c := range candidates {
		if c == "" || len(c) > maxWord || len(word) > maxWord {
			continue
		}
		d := distance(strings.ToLower(word), strings.ToLower(c))
		if d < bound || d == bound && best != "" && c[:1] == word[:1] && best[:1] != word[:1] {
			best, bound = c, d
		}
	}
	if best != "" || len(word) < sameStart {
		return best
	}
	alike := slices.DeleteFunc(slices.Clone(candidates), func(c string) bool { return !strings.HasPrefix(c, word[:sameStart]) })
	if len(alike) == 1 {
		return alike[0]
	}
	return ""
}

// sameStart is how many letters words begin with that begin in the same way.
const sameStart = 4

// distance is the number of edits between a and b: a character more, less or other, or two neighbours swapped.
func distance(a, b string) int {
	d := make([][]int, len(a)+1)
	for i := range d {
		d[i] = make([]int, len(b)+1)
		for j := range d[i] {
			switch {
			case i == 0 || j == 0:
				d[i][j] = i + j
			case a[i-1] == b[j-1]:
				d[i][j] = d[i-1][j-1]
			default:
				d[i][j] = 1 + min(d[i-1][j-1], d[i-1][j], d[i][j-1])
			}
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(a)][len(b)]
}

// OneOf joins words for a message: "a, b or c".
func OneOf(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// Indefinite puts the indefinite article before a noun: "an input", "a size".
func Indefinite(noun string) string {
	if noun != "" && strings.Contains("aeio", noun[:1]) {
		return "an " + noun
	}
	return "a " + noun
}

// Plain makes text fit for a terminal. Reasons come from strangers, whose control characters would move the cursor, colour
// what follows or turn the order of letters around: all but ends of lines and tabs are shown as what they are.
func Plain(text string) string {
	var out strings.Builder
	for i, r := range text {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], string(utf8.RuneError)): // no UTF-8
			fmt.Fprintf(&out, `\x%02x`, text[i])
		case r == '\n', r == '\t', !unicode.IsControl(r) && !unicode.Is(unicode.Bidi_Control, r):
			out.WriteRune(r)
		case r < ' ':
			fmt.Fprintf(&out, `\x%02x`, r)
		default: // as in JSON
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.String()
}

// Shown is an output that people see. All text for it goes through Plain; To takes the rest, such as a live line.
type Shown struct{ To io.Writer }

// Write writes text. It holds no character back, so texts come whole.
func (s Shown) Write(text []byte) (int, error) {
	if _, err := io.WriteString(s.To, Plain(string(text))); err != nil {
		return 0, fmt.Errorf("print: %w", err)
	}
	return len(text), nil
}

// Raw is what lies behind an output.
func Raw(w io.Writer) io.Writer {
	if shown, ok := w.(Shown); ok {
		return shown.To
	}
	return w
}

// Cell makes text fit for a cell of a table in Markdown.
func Cell(text string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "\n", " ").Replace(Plain(text))
}
