package migrate

import (
	"regexp"
	"strings"
)

// tokenKind says what a token is.
type tokenKind int

const (
	punctuation tokenKind = iota
	word
	number
	text // a string; its text is the content
)

// token is a word, a number, a string or a sign of C++.
type token struct {
	kind tokenKind
	text string
	line int
	// spaced says that white space stands before it.
	spaced bool
	// quoted says that it stands in quotes, escaped that its text is not what they hold.
	quoted, escaped bool
	// close is how far the bracket is that closes this one; 0 if none does.
	close int
}

// file is a source as tokens, without comments and preprocessor lines.
type file struct {
	Source
	tokens []token
	// binds says that it has registrations.
	binds bool
}

func (f *file) line(at int) int {
	if at < len(f.tokens) {
		return f.tokens[at].line
	}
	return max(1, strings.Count(f.Text, "\n"))
}

// is says whether the tokens from an index on have these texts.
func (f *file) is(at int, texts ...string) bool {
	for i, t := range texts {
		if at < 0 || at+i >= len(f.tokens) || f.tokens[at+i].text != t || f.tokens[at+i].kind == text {
			return false
		}
	}
	return true
}

func isWordByte(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80
}

// lexer cuts a text into tokens. It accepts every text: what does not end, ends with the text.
type lexer struct {
	rest   string
	line   int
	fresh  bool // nothing but white space since the line began
	spaced bool
	tokens []token
	macros []macro
	// torn are the lines of strings and comments that do not end, by what they are.
	torn []tornLine
}

// tornLine is the line at which something begins that does not end.
type tornLine struct {
	line int
	what string
}

// macro is a name that the preprocessor replaces by a text, which begins in a line. The last parameter of a variadic one takes the rest.
type macro struct {
	name, body         string
	function, variadic bool
	params             []string
	line               int
}

func lex(source string) []token {
	tokens, _, _ := lexAll(source)
	return tokens
}

func lexAll(source string) ([]token, []macro, []tornLine) {
	l := &lexer{rest: source, line: 1, fresh: true}
	return l.all(), l.macros, l.torn
}

// all are the tokens of what is left.
func (l *lexer) all() []token {
	for l.rest != "" {
		l.next()
	}
	pair(l.tokens)
	return l.tokens
}

// take removes n bytes and returns them.
func (l *lexer) take(n int) string {
	n = min(n, len(l.rest))
	taken := l.rest[:n]
	l.rest = l.rest[n:]
	l.line += strings.Count(taken, "\n")
	return taken
}

func (l *lexer) add(kind tokenKind, line int, content string) {
	l.tokens = append(l.tokens, token{kind: kind, text: content, line: line, spaced: l.spaced})
	l.fresh, l.spaced = false, false
}

// until is the length of the text before the next end, or of all that is left, and that of the end.
func (l *lexer) until(from int, end string) int {
	if from > len(l.rest) {
		return len(l.rest)
	}
	if i := strings.Index(l.rest[from:], end); i >= 0 {
		return from + i + len(end)
	}
	return len(l.rest)
}

func (l *lexer) next() {
	c := l.rest[0]
	switch {
	case c == '\n':
		l.take(1)
		l.fresh, l.spaced = true, true
	case c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v' || c == '\\' || c == 0:
		l.take(1)
		l.spaced = true
	case strings.HasPrefix(l.rest, "//"):
		comment, _, _ := strings.Cut(l.rest, "\n")
		l.take(len(comment))
		l.spaced = true
	case strings.HasPrefix(l.rest, "/*"):
		line := l.line
		if comment := l.take(l.until(2, "*/")); len(comment) < 4 || !strings.HasSuffix(comment, "*/") {
			l.torn = append(l.torn, tornLine{line, "comment"})
		}
		l.spaced = true
	case c == '#' && l.fresh:
		l.directive()
	case c == '"':
		l.quoted('"', text)
	case c == '\'':
		l.quoted('\'', number)
	case c >= '0' && c <= '9' || c == '.' && len(l.rest) > 1 && l.rest[1] >= '0' && l.rest[1] <= '9':
		l.number()
	case isWordByte(c):
		l.word()
	case strings.HasPrefix(l.rest, "::") || strings.HasPrefix(l.rest, "->"):
		l.add(punctuation, l.line, l.take(2))
	default:
		l.add(punctuation, l.line, l.take(1))
	}
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

var defines = regexp.MustCompile(`^#[ \t]*define[ \t]+(\w+)(?:\(([^()]*)\))?[ \t\\]`)

var parameterNames = regexp.MustCompile(`\w+`)

// directive skips a line of the preprocessor, with those that continue it, and keeps macros.
func (l *lexer) directive() {
	begin, all := l.line, l.rest
	for {
		line := l.take(l.until(0, "\n"))
		if !strings.HasSuffix(strings.TrimRight(line, "\r\n"), "\\") || l.rest == "" {
			break
		}
	}
	l.fresh, l.spaced = true, true
	l.define(all[:len(all)-len(l.rest)], begin)
}

// define keeps the macro that a line of the preprocessor defines, if it does.
func (l *lexer) define(text string, line int) {
	at := defines.FindStringSubmatchIndex(text)
	if at == nil {
		return
	}
	m := macro{name: text[at[2]:at[3]], body: text[at[1]-1:], line: line}
	if m.function = at[4] >= 0; m.function {
		list := text[at[4]:at[5]]
		m.variadic = strings.Contains(list, "...")
		m.params = parameterNames.FindAllString(strings.Replace(list, "...", " __VA_ARGS__", 1), -1)
		if n := len(m.params); m.variadic && n > 1 && strings.Contains(list, m.params[n-2]+"...") { // args...
			m.params = m.params[:n-1]
		}
	}
	l.macros = append(l.macros, m)
}

var escapes = strings.NewReplacer(`\n`, " ", `\t`, " ", `\"`, `"`, "\\\r\n", "", "\\\n", "", `\\`, `\`)

// plainEscapes are those behind which the character stands that is meant.
var plainEscapes = strings.NewReplacer(`\"`, "", `\\`, "")

// quoted reads a string or a character; one that does not end, ends with its line.
func (l *lexer) quoted(end byte, kind tokenKind) {
	line, i := l.line, 1
	for i < len(l.rest) && l.rest[i] != end && l.rest[i] != '\n' {
		i += 1 + boolInt(l.rest[i] == '\\')
	}
	i = min(i, len(l.rest))
	if ended := i < len(l.rest) && l.rest[i] == end; !ended && kind == text {
		l.torn = append(l.torn, tornLine{line, "string"})
		// A quote is missing, and often no more: the call goes on.
		i = len(strings.TrimSuffix(strings.TrimRight(l.rest[:i], " \t\r"), ");"))
	}
	content := l.take(i)[1:]
	if strings.HasPrefix(l.rest, string(end)) {
		l.take(1)
	}
	escaped := strings.Contains(plainEscapes.Replace(content), `\`)
	if kind == text {
		content = escapes.Replace(content)
	}
	l.add(kind, line, content)
	l.tokens[len(l.tokens)-1].quoted, l.tokens[len(l.tokens)-1].escaped = true, escaped
}

func (l *lexer) number() {
	i := 1
	for i < len(l.rest) {
		c := l.rest[i]
		sign := (c == '+' || c == '-') && strings.IndexByte("eEpP", l.rest[i-1]) >= 0 && !strings.HasPrefix(l.rest, "0x")
		if !isWordByte(c) && c != '.' && c != '\'' && !sign {
			break
		}
		i++
	}
	l.add(number, l.line, strings.ReplaceAll(l.take(i), "'", ""))
}

func (l *lexer) word() {
	i := 1
	for i < len(l.rest) && isWordByte(l.rest[i]) {
		i++
	}
	name := l.rest[:i]
	if i < len(l.rest) && l.rest[i] == '"' {
		switch name {
		case "R", "LR", "uR", "UR", "u8R":
			l.raw(i)
			return
		case "L", "u", "U", "u8":
			l.take(i)
			l.quoted('"', text)
			return
		}
	}
	l.add(word, l.line, l.take(i))
}

// raw reads R"delimiter(content)delimiter"; i is the length of the prefix.
func (l *lexer) raw(i int) {
	line := l.line
	open := strings.IndexByte(l.rest[i:], '(')
	if open < 0 || open > 18 {
		l.take(i + 1)
		return
	}
	end := ")" + l.rest[i+1:i+open] + `"`
	all := l.take(l.until(i+open+1, end))
	if !strings.HasSuffix(all[i+open+1:], end) {
		l.torn = append(l.torn, tornLine{line, "string"})
	}
	l.add(text, line, strings.TrimSuffix(all[i+open+1:], end))
	l.tokens[len(l.tokens)-1].quoted = true
}
