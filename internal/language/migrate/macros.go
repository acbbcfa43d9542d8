package migrate

import "slices"

// binding is a macro whose text registers functions.
type binding struct {
	body *file
	macro
	// read says that one without parameters was read: a module may name it again. Open says that it is being read.
	read, open bool
}

// bindings keeps the macros of a file that register functions, each as often as it is defined.
func (r *reader) bindings(f *file, macros []macro) {
	for _, m := range macros {
		body := (&lexer{rest: m.body, line: m.line}).all()
		if slices.ContainsFunc(body, func(t token) bool {
			return t.kind == word && (t.text == "def" || t.text == "impl" || r.binding[t.text] != nil)
		}) {
			r.binding[m.name] = append(r.binding[m.name], &binding{body: &file{Source: f.Source, tokens: body}, macro: m})
		}
	}
}

// expanded calls read with the text of a macro that is used at an index, if it registers functions, and returns the index where the use
// ends. What has parameters is read as if it stood where it is used.
func (r *reader) expanded(f *file, at int, read func(*file)) int {
	end := at
	if f.tokens[at].kind != word {
		return at
	}
	for _, m := range r.binding[f.tokens[at].text] {
		switch {
		case m.open: // within itself, a macro stands for nothing
		case !m.function:
			f.binds = true
			if !m.read {
				m.read = true
				m.reading(read, m.body)
			}
		case f.is(at+1, "("):
			end = closing(f.tokens, at+1)
			r.spell(f, at, m, f.tokens[at+2:min(end, len(f.tokens))], read)
		}
	}
	return end
}

// spell reads what a macro with parameters stands for.
func (r *reader) spell(f *file, at int, m *binding, inner []token, read func(*file)) {
	args := split(inner, ",")
	if last := len(m.params) - 1; m.variadic && len(args) > last {
		start := 0
		for _, arg := range args[:last] {
			start += len(arg) + 1
		}
		args = append(args[:last:last], inner[start:])
	} else if m.variadic && len(args) == last {
		args = append(args, nil)
	}
	switch tokens := m.with(args, f.line(at)); {
	case len(args) != len(m.params):
		r.noteAt(f, at, "not read: %s(...): it has %d arguments here, and %d where it is defined", m.name, len(args), len(m.params))
	case r.spelled+len(tokens) > mostSpelled:
		r.noteAt(f, at, "not read: %s(...): macros stand for too much here", m.name)
	default:
		r.spelled += len(tokens)
		f.binds = true
		m.reading(read, &file{Source: f.Source, tokens: tokens})
	}
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
	sign := func(i int) bool { return i < len(body) && body[i].kind == punctuation && body[i].text == "#" }
	pasted := false
	for i := 0; i < len(body); i++ {
		if sign(i) && sign(i+1) {
			pasted = true
			i++
			continue
		}
		quoted := sign(i) && i+1 < len(body)
		if quoted {
			i++
		}
		added := []token{body[i]}
		if k := slices.Index(m.params, body[i].text); k >= 0 && k < len(args) && body[i].kind == word {
			if added = args[k]; quoted {
				added = []token{{kind: text, text: joined(args[k]), quoted: true}}
			}
		}
		if last := len(tokens) - 1; pasted && last >= 0 && len(added) > 0 {
			tokens[last].text += added[0].text
			added = added[1:]
		}
		pasted = false
		tokens = append(tokens, added...)
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
