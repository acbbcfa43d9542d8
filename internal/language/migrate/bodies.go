package migrate

import (
	"slices"
	"strings"
)

// use is what a body does with an array. If it escapes, something may be done with it that is not seen.
type use struct{ reads, writes, escapes bool }

func (u use) and(other use) use {
	return use{u.reads || other.reads, u.writes || other.writes, u.escapes || other.escapes}
}

// known says of the parameters of a function what its body does with them: a signature alone seldom tells what is written.
func (r *reader) known(c *cFunction, params []Param) {
	for i := range params {
		p := &params[i]
		if p.Kind != Array || p.Const || i >= len(c.params) {
			p.sure = p.sure || p.Const
			continue
		}
		if u := r.useOf(c, i, deepestCall); u.writes || u.reads && !u.escapes {
			p.Written, p.read, p.sure = u.writes, u.reads, true
		}
	}
}

// deepestCall is how far a body's calls are followed.
const deepestCall = 3

// parameter is one of a function, from which calls are followed so far.
type parameter struct {
	of           *cFunction
	index, depth int
}

// useOf is what is known of a parameter: nothing where the body is in no file, or gives the array away. It is found out once: bodies may
// name each other very often.
func (r *reader) useOf(c *cFunction, param, depth int) use {
	key := parameter{c, param, depth}
	u, known := r.uses[key]
	if !known {
		u = r.useIn(c, param, depth)
		r.uses[key] = u
	}
	return u
}

func (r *reader) useIn(c *cFunction, param, depth int) use {
	if body := r.bodyOf(c); body != nil {
		c = body
	}
	if c.params[param].Const {
		return use{reads: true}
	}
	if !c.body || depth == 0 {
		return use{escapes: true}
	}
	b := body{reader: r, f: c.file, names: []string{c.params[param].Name}, depth: depth, passed: map[int]bool{}}
	b.walk(c.open, min(closing(c.file.tokens, c.open), len(c.file.tokens)))
	if b.hidden {
		return use{escapes: true}
	}
	return b.use
}

// body is a body in which an array has names: that of the parameter, and those of pointers to it.
type body struct {
	reader *reader
	f      *file
	names  []string
	depth  int
	use    use
	// hidden says that the name also stands for something else.
	hidden bool
	// passed are the places of names that calls of known functions have as arguments.
	passed map[int]bool
}

// walk looks at each token between two.
func (b *body) walk(start, end int) {
	for i := start; i < end; i++ {
		t := b.f.tokens[i]
		if t.kind != word {
			continue
		}
		b.hidden = b.hidden || t.text == "const_cast"
		if open := b.f.callAt(i); open > 0 {
			b.call(t.text, open)
		}
		if slices.Contains(b.names, t.text) && !b.passed[i] && !b.f.is(i-1, ".") && !b.f.is(i-1, "->") {
			b.use = b.use.and(b.mention(i))
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

// mention is what becomes of the array where its name stands.
func (b *body) mention(at int) use {
	f := b.f
	if f.declares(at) || f.is(at+1, "=") && !f.is(at+1, "=", "=") && !f.is(at-1, "*") { // another array has the name from here on
		b.hidden = true
		return use{}
	}
	deref := f.is(at-1, "*") && f.tokens[at-2].kind == punctuation && !f.is(at-2, ")") && !f.is(at-2, "]")
	switch {
	case f.is(at+1, "["):
		return f.element(at-1, closing(f.tokens, at+1)+1)
	case deref && (f.is(at+1, "+", "+") || f.is(at+1, "-", "-")):
		return f.element(at-2, at+3)
	case deref:
		return f.element(at-2, at+1)
	case f.is(at-1, "!") || f.is(at+1, "=", "=") || f.is(at+1, "!", "=") || f.is(at-2, "if", "(") && f.is(at+1, ")"):
		return use{} // whether there is one
	case f.is(at+1, ".") && at+2 < len(f.tokens) && !strings.HasSuffix(f.tokens[at+2].text, "data_ptr"):
		return method(f.tokens[at+2].text)
	case f.is(at+1, ".", "const_data_ptr"), f.is(at+1, ".", "data_ptr", "<", "const"), f.constCast(at):
		return use{reads: true}
	case f.is(at+1, ".", "mutable_data_ptr"):
		return use{writes: true}
	}
	return b.pointer(at)
}

// declares says whether the name at an index is that of something declared there.
func (f *file) declares(at int) bool {
	before := f.tokens[at-1]
	if before.kind == word {
		return !slices.Contains([]string{"return", "else", "do", "case", "throw", "co_return", "co_yield", "new", "delete", "not", "and", "or"}, before.text)
	}
	ends := f.is(at+1, ")") || f.is(at+1, ",") || f.is(at+1, "=") || f.is(at+1, ";")
	return (before.text == "*" || before.text == "&") && ends && (f.tokens[at-2].kind == word || f.is(at-2, ">"))
}

// byValue are functions and statements that only read what they get.
var byValue = []string{
	"if", "while", "switch", "for", "return", "float", "double", "int", "int32_t", "int64_t", "exp", "expf", "log", "logf", "sqrt", "sqrtf", "rsqrtf", "fabs", "fabsf",
	"abs", "tanh", "tanhf", "min", "max", "fmin", "fmax", "fminf", "fmaxf", "pow", "powf", "fma", "fmaf", "isnan", "isinf", "__half2float", "__bfloat162float", "to_float",
}

// given says whether what stands behind a token is an argument of something that may write it: a call, or the name of a reference.
func (f *file) given(before, behind int) bool {
	if f.is(before, "=") && f.is(before-2, "&") {
		return true
	}
	if !f.is(before, "(") && !f.is(before, ",") || !f.is(behind, ")") && !f.is(behind, ",") {
		return false
	}
	depth := 0
	for i := before; i > 0 && before-i < longestStatement; i-- {
		switch f.tokens[i].text {
		case ")", "]", "}":
			depth++
		case "(", "[", "{":
			if depth--; depth < 0 {
				return f.tokens[i-1].kind == word && !slices.Contains(byValue, f.tokens[i-1].text)
			}
		}
	}
	return true
}

// element is what happens to an element between two tokens: something assigns to it, or reads it.
func (f *file) element(before, behind int) use {
	for f.is(before, "(") && f.is(behind, ")") && f.tokens[before-1].kind == punctuation && !f.is(before-1, ">") {
		before, behind = before-1, behind+1
	}
	switch {
	case f.given(before, behind):
		return use{escapes: true}
	case f.is(before, "&"), f.is(behind, "."), f.is(behind, "->"), f.is(behind, "["):
		return use{escapes: true}
	case f.is(before-1, "+", "+"), f.is(before-1, "-", "-"), f.is(behind, "+", "+"), f.is(behind, "-", "-"):
		return use{reads: true, writes: true}
	case f.is(behind, "=") && !f.is(behind, "=", "="):
		return use{writes: true}
	}
	for _, sign := range []string{"+", "-", "*", "/", "%", "|", "&", "^", "<", ">"} {
		if f.is(behind, sign, "=") && sign != "<" && sign != ">" || f.is(behind, sign, sign, "=") {
			return use{reads: true, writes: true}
		}
	}
	return use{reads: true}
}

// method is one of a tensor. What ends with an underscore writes it, in PyTorch; of what is not known, nothing is said.
func method(name string) use {
	switch {
	case slices.Contains([]string{
		"size", "sizes", "sym_size", "dim", "ndim", "ndimension", "numel", "nbytes", "stride", "strides", "shape", "dtype", "scalar_type", "device",
		"get_device", "is_contiguous", "is_cuda", "is_cpu", "defined", "has_value", "options", "element_size", "itemsize", "type", "layout",
	}, name):
		return use{}
	case strings.HasSuffix(name, "_") && !strings.HasSuffix(name, "__") && !slices.Contains([]string{"requires_grad_", "detach_", "set_", "rename_"}, name):
		return use{reads: true, writes: true}
	}
	return use{escapes: true}
}

// constCast says whether the name at an index stands in static_cast<const T*>(x.data_ptr()).
func (f *file) constCast(at int) bool {
	if !f.is(at-2, ">", "(") {
		return false
	}
	for i := at - 3; i > 0 && at-i < longestStatement; i-- {
		if f.is(i, "<") {
			return strings.HasSuffix(f.tokens[i-1].text, "_cast") && (f.is(i+1, "const") || f.is(at-4, "const", "*"))
		}
	}
	return false
}

// pointer looks at the statement before a mention: `const T* p = ...` reads the array, and `T* p = ...` is another name of it.
func (b *body) pointer(at int) use {
	f, equals := b.f, 0
	begin := at
	for ; begin > 0 && at-begin < longestStatement && !slices.Contains([]string{";", "{", "}"}, f.tokens[begin-1].text); begin-- {
		if f.is(begin-1, "=") {
			equals = begin - 1
		}
	}
	if equals < begin+2 || f.tokens[equals-1].kind != word {
		return use{escapes: true}
	}
	declared, cast := f.tokens[begin:equals-1], f.tokens[equals+1:at]
	star := slices.IndexFunc(declared, func(t token) bool { return t.text == "*" })
	direct := len(cast) == 0 || cast[0].text == "(" || strings.HasSuffix(cast[0].text, "_cast")
	switch name := f.tokens[equals-1].text; {
	case star < 0 || contains(declared[star+1:], "*") || contains(declared, "(") || contains(declared, ",") || contains(cast, ",") || !direct:
		return use{escapes: true}
	case contains(declared[:star], "const"):
		return use{reads: true}
	case !slices.Contains(b.names, name):
		b.names = append(b.names, name)
	}
	return use{}
}

// longestStatement is how many tokens before a mention are looked at.
const longestStatement = 60

// call is one with the array among its arguments: what the function that is called does with it, if a file says.
func (b *body) call(name string, open int) {
	args := split(b.f.tokens[open+1:min(closing(b.f.tokens, open), len(b.f.tokens))], ",")
	start := open + 1
	for i, arg := range args {
		if at := b.passes(arg); at >= 0 {
			for _, c := range b.reader.declared[name] {
				if len(c.params) == len(args) {
					b.passed[start+at] = true
					b.use = b.use.and(b.reader.useOf(c, i, b.depth-1))
					break
				}
			}
		}
		start += len(arg) + 1
	}
}

// passes is where the name stands in an argument that is the array or its pointer, also by a cast; else -1.
func (b *body) passes(arg []token) int {
	i := slices.IndexFunc(arg, func(t token) bool { return t.kind == word && slices.Contains(b.names, t.text) })
	if i < 0 {
		return -1
	}
	cast := i == 0 || arg[0].text == "(" || strings.HasSuffix(arg[0].text, "_cast")
	rest := arg[i+1:]
	pointer := len(rest) == 0 || rest[0].text == ")" || rest[0].text == "." && len(rest) > 1 && strings.HasSuffix(rest[1].text, "data_ptr")
	if !cast || !pointer {
		return -1
	}
	return i
}
