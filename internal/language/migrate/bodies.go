package migrate

import (
	"slices"
	"strings"
)

// use is what a body does with an array.
type use struct{ reads, writes bool }

func (u use) and(other use) use { return use{u.reads || other.reads, u.writes || other.writes} }

// known says of the parameters of a function what its body does with them: a signature alone seldom tells what is written.
func (r *reader) known(c *cFunction, params []Param) {
	for i := range params {
		p := &params[i]
		if p.Kind != Array || p.Const || i >= len(c.params) {
			p.sure = p.sure || p.Const
			continue
		}
		if u := r.useOf(c, i, deepestCall); u.reads || u.writes {
			p.Written, p.read, p.sure = u.writes, u.reads, true
		}
	}
}

// deepestCall is how far a body's calls are followed.
const deepestCall = 3

// useOf is what is known of a parameter: nothing where the body is in no file, or gives the array away.
func (r *reader) useOf(c *cFunction, param, depth int) use {
	if body := r.bodyOf(c); body != nil {
		c = body
	}
	if c.params[param].Const {
		return use{reads: true}
	}
	if !c.body || c.params[param].Name == "" || depth == 0 {
		return use{}
	}
	b := body{reader: r, f: c.file, names: []string{c.params[param].Name}, depth: depth}
	b.walk(c.open, min(closing(c.file.tokens, c.open), len(c.file.tokens)))
	return b.use
}

// bodyOf is the function with the same parameters whose body was read.
func (r *reader) bodyOf(c *cFunction) *cFunction {
	for _, d := range r.declared[c.name] {
		if d.body && len(d.params) == len(c.params) && d.shape() == c.shape() {
			return d
		}
	}
	return nil
}

// body is a body in which an array has names: that of the parameter, and those of pointers to it.
type body struct {
	reader *reader
	f      *file
	names  []string
	depth  int
	use    use
}

// walk looks at each token between two.
func (b *body) walk(start, end int) {
	for i := start; i < end; i++ {
		t := b.f.tokens[i]
		if t.kind != word {
			continue
		}
		if open := b.f.callAt(i); open > 0 {
			b.call(t.text, open)
		}
		if slices.Contains(b.names, t.text) && !b.f.is(i-1, ".") && !b.f.is(i-1, "->") {
			b.mention(i)
		}
	}
}

// callAt is the index of the ( of a call of the word at an index, behind arguments of templates and of launches; 0 if it is none.
func (f *file) callAt(at int) int {
	next := at + 1
	for f.is(next, "<") {
		end := closingAngle(f.tokens, next)
		if end < 0 {
			return 0
		}
		next = end + 1
	}
	if f.is(next, "(") {
		return next
	}
	return 0
}

// mention is the array's name at an index.
func (b *body) mention(at int) {
	f := b.f
	switch {
	case f.is(at+1, "[") && (f.is(at-2, "+", "+") || f.is(at-2, "-", "-")):
		b.use = use{true, true}
	case f.is(at+1, "["):
		b.element(closing(f.tokens, at+1) + 1)
	case f.is(at-1, "*") && f.is(at+1, "=") && !f.is(at+2, "="):
		b.use.writes = true
	case f.is(at+1, ".") && at+2 < len(f.tokens):
		b.method(at)
	}
	b.pointer(at)
}

// element is what follows an element: what assigns to it, or something that reads it.
func (b *body) element(behind int) {
	f := b.f
	assigned := f.is(behind, "=") && !f.is(behind+1, "=")
	for _, sign := range []string{"+", "-", "*", "/", "%", "|", "&", "^"} {
		if f.is(behind, sign, "=") || f.is(behind, sign, sign) && (sign == "+" || sign == "-") {
			b.use = use{true, true}
		}
	}
	b.use = b.use.and(use{reads: !assigned, writes: assigned})
}

// method is one that the array has.
func (b *body) method(at int) {
	switch name := b.f.tokens[at+2].text; {
	case name == "const_data_ptr", name == "data_ptr" && b.f.is(at+3, "<", "const"):
		b.use.reads = true
	case name == "mutable_data_ptr", strings.HasSuffix(name, "_") && !strings.HasSuffix(name, "__"):
		b.use.writes = true
	}
}

// pointer looks at the statement before a mention: `const T* p = ...` reads the array, and `T* p = ...` is another name of it.
func (b *body) pointer(at int) {
	f, equals := b.f, 0
	begin := at
	for ; begin > 0 && at-begin < longestStatement && !slices.Contains([]string{";", "{", "}"}, f.tokens[begin-1].text); begin-- {
		if f.is(begin-1, "=") {
			equals = begin - 1
		}
	}
	if equals < begin+2 || f.tokens[equals-1].kind != word {
		return
	}
	declared := f.tokens[begin : equals-1]
	switch name := f.tokens[equals-1].text; {
	case !contains(declared, "*") || contains(declared, "(") || slices.Contains(b.names, name):
	case contains(declared, "const"):
		b.use.reads = true
	default:
		b.names = append(b.names, name)
	}
}

// longestStatement is how many tokens before a mention are looked at.
const longestStatement = 60

// call is one with the array among its arguments: what the function that is called does with it, if a file says.
func (b *body) call(name string, open int) {
	args := split(b.f.tokens[open+1:min(closing(b.f.tokens, open), len(b.f.tokens))], ",")
	for i, arg := range args {
		if !b.passes(arg) {
			continue
		}
		for _, c := range b.reader.declared[name] {
			if len(c.params) == len(args) {
				b.use = b.use.and(b.reader.useOf(c, i, b.depth-1))
				break
			}
		}
	}
}

// passes says whether an argument is the array or its pointer, also by a cast.
func (b *body) passes(arg []token) bool {
	i := slices.IndexFunc(arg, func(t token) bool { return t.kind == word && slices.Contains(b.names, t.text) })
	if i < 0 {
		return false
	}
	cast := i == 0 || arg[0].text == "(" || strings.HasSuffix(arg[0].text, "_cast")
	rest := arg[i+1:]
	pointer := len(rest) == 0 || rest[0].text == ")" || rest[0].text == "." && len(rest) > 1 && strings.HasSuffix(rest[1].text, "data_ptr")
	return cast && pointer
}
