package migrate

import "slices"

// binding is a macro whose text registers functions.
type binding struct {
	body   *file
	params []string
	// read says that one without parameters was read: a module may name it again. Open says that it is being read.
	read, open bool
}

// bindings keeps the macros of a file that register functions.
func (r *reader) bindings(f *file, macros []macro) {
	for _, m := range macros {
		body := (&lexer{rest: m.body, line: m.line}).all()
		if slices.ContainsFunc(body, func(t token) bool {
			return t.kind == word && (t.text == "def" || t.text == "impl" || r.binding[t.text] != nil)
		}) {
			r.binding[m.name] = &binding{body: &file{Source: f.Source, tokens: body}, params: m.params}
		}
	}
}

// expanded calls read with the text of a macro that is used at an index, if it registers functions, and returns the index where the use
// ends. What has parameters is read as if it stood where it is used.
func (r *reader) expanded(f *file, at int, read func(*file)) int {
	m := r.binding[f.tokens[at].text]
	switch {
	case m == nil || f.tokens[at].kind != word || m.open: // within itself, a macro stands for nothing
		return at
	case m.params == nil:
		f.binds = true
		if !m.read {
			m.read = true
			m.reading(read, m.body)
		}
		return at
	case !f.is(at+1, "("):
		return at
	}
	end := closing(f.tokens, at+1)
	args := split(f.tokens[at+2:min(end, len(f.tokens))], ",")
	switch tokens := m.with(args, f.line(at)); {
	case len(args) != len(m.params):
	case r.spelled+len(tokens) > mostSpelled:
		r.noteAt(f, at, "not read: %s(...): macros stand for too much here", f.tokens[at].text)
	default:
		r.spelled += len(tokens)
		f.binds = true
		m.reading(read, &file{Source: f.Source, tokens: tokens})
	}
	return end
}

func (m *binding) reading(read func(*file), body *file) {
	m.open = true
	read(body)
	m.open = false
}

// mostSpelled is for how many tokens the uses of macros with parameters may stand: each may name others twice.
const mostSpelled = 1 << 17

// with is the text of the macro for arguments, in a line.
func (m *binding) with(args [][]token, line int) (tokens []token) {
	body := m.body.tokens
	for i := 0; i < len(body); i++ {
		quoted := body[i].kind == punctuation && body[i].text == "#" && i+1 < len(body)
		if quoted {
			i++
		}
		k := slices.Index(m.params, body[i].text)
		switch {
		case k < 0 || k >= len(args) || body[i].kind != word:
			tokens = append(tokens, body[i])
		case quoted:
			tokens = append(tokens, token{kind: text, text: joined(args[k]), quoted: true})
		default:
			tokens = append(tokens, args[k]...)
		}
	}
	for i := range tokens {
		tokens[i].line, tokens[i].close = line, 0
	}
	pair(tokens)
	return tokens
}

// aliases finds other names of types.
func (r *reader) aliases(f *file) {
	f.statements(func(_ []scope, start, end int) {
		switch {
		case f.is(end, "{"):
		case f.is(start, "using") && f.is(start+2, "="):
			r.types.alias(f.tokens[start+1].text, f.tokens[start+3:end])
		case f.is(start, "typedef") && end-start > 2:
			r.types.alias(f.tokens[end-1].text, f.tokens[start+1:end-1])
		}
	})
}
