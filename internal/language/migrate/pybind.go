package migrate

import "strings"

// pybind reads the blocks of PYBIND11_MODULE, and NB_MODULE of nanobind, which looks the same.
func (r *reader) pybind(f *file) {
	for i := 0; i < len(f.tokens); i++ {
		if !f.is(i, "PYBIND11_MODULE", "(") && !f.is(i, "NB_MODULE", "(") {
			continue
		}
		end := closing(f.tokens, i+1)
		if !f.is(end+1, "{") {
			continue
		}
		stop := closing(f.tokens, end+1)
		r.pybindBlock(f, end+1, stop)
		if args := split(f.tokens[i+2:end], ","); len(args) == 2 {
			r.others(f, end+1, joined(args[1]))
		}
		i = stop
	}
}

// pybindBlock reads the registrations between two tokens, and those of macros there, once each.
func (r *reader) pybindBlock(f *file, start, stop int) {
	for k := start; k < stop; k++ {
		switch t := f.tokens[k]; {
		case f.is(k, ".", "def", "(") || f.is(k, "->", "def", "("):
			module := k == 0 || f.tokens[k-1].kind == word // and not py::class_<T>(m, "T").def(...); a macro may begin with the dot
			for k = r.pybindDef(f, k, module); f.is(k+1, ".", "def", "("); {
				k = r.pybindDef(f, k+1, module)
			}
		case r.binding[t.text] != nil:
			k = r.expanded(f, k, func(body *file) { r.pybindBlock(body, 0, len(body.tokens)) })
		case t.kind == word && capitals.MatchString(t.text) && (f.is(k+1, ";") || f.is(k+1, "}")):
			r.noteAt(f, k, "not read: %s: read the file that defines this macro, too", t.text)
		}
	}
}

// pybindDef reads m.def("name", &f, "doc", py::arg("x") = 1) at the index of the dot, and returns the index of its end.
func (r *reader) pybindDef(f *file, dot int, module bool) int {
	end := closing(f.tokens, dot+2)
	args := split(f.tokens[dot+3:min(end, len(f.tokens))], ",")
	switch {
	case !module:
		r.noteAt(f, dot, "not read: %s: a method of a class is no op", shortened(args))
	case len(args) < 2:
		r.noteAt(f, dot, "not read: %s: it names no function", shortened(args))
	default:
		if name, ok := stringOf(args[0]); ok {
			r.boundFunction(f, dot, name, args[1:])
		} else {
			r.noteAt(f, dot, "not read: %s: its first argument is no string", shortened(args))
		}
	}
	return end
}

// boundFunction reads a function that is registered under a name without a schema: its declaration says what it takes.
func (r *reader) boundFunction(f *file, at int, name string, args [][]token) {
	if len(args) == 0 {
		r.noteAt(f, at, "not read: %q has neither a schema nor a function", name)
		return
	}
	if contains(args[0], "[") || contains(args[0], "{") {
		r.noteAt(f, at, "not read: %q is bound to a lambda: write a function, and read its file", name)
		return
	}
	c, other, callee := r.find(f, args[0])
	if callee == "" {
		r.noteAt(f, at, "not read: %q is bound to nothing that has a name", name)
		return
	}
	if c == nil {
		r.noteAt(f, at, "not read: %q is bound to %s, which no file declares: read the file that does, too", name, callee)
		return
	}
	if other != nil {
		r.noteAt(f, at, "%q is bound to %s, which is overloaded: read as in %s:%d, and not as in %s:%d", name, callee, c.file.Name, c.line, other.file.Name, other.line)
	}
	fn := Function{
		Name: name, File: f.Name, Line: f.line(at), Params: append([]Param(nil), c.params...), Results: cppResults(c.result, r.types),
		Written: c.declaration, Device: r.deviceOf(c.file),
	}
	if isHeader(c.file.Name) { // which is for whatever includes it
		fn.Device = r.deviceOf(r.module)
	}
	r.known(c, fn.Params)
	r.extras(&fn, args[1:])
	r.functions = append(r.functions, fn)
}

// extras are what pybind11 takes behind the function: a doc, and names and defaults of the parameters in order.
func (r *reader) extras(fn *Function, args [][]token) {
	next := 0
	for _, arg := range args {
		if len(arg) == 0 { // behind a comma too many
			continue
		}
		if doc, ok := stringOf(arg); ok && (len(arg) == 1 || arg[1].kind == text) {
			fn.Doc = doc
			continue
		}
		parts := split(arg, "=")
		name := argumentName(parts[0])
		if name == "" || next >= len(fn.Params) {
			continue
		}
		p := &fn.Params[next]
		if p.Name = name; len(parts) > 1 {
			p.setDefault(parts[1])
		}
		next++
	}
}

// argumentName is the x of py::arg("x"), py::arg("x").noconvert() and "x"_a, or "".
func argumentName(tokens []token) string {
	if len(tokens) > 1 && tokens[0].kind == text && tokens[1].text == "_a" {
		return tokens[0].text
	}
	for i, t := range tokens {
		if t.text == "arg" && len(tokens) > i+2 && tokens[i+1].text == "(" && tokens[i+2].kind == text {
			return strings.TrimSpace(tokens[i+2].text)
		}
	}
	return ""
}

// tvmFFI reads TVM_FFI_DLL_EXPORT_TYPED_FUNC(name, function).
func (r *reader) tvmFFI(f *file) {
	for i := 0; i < len(f.tokens); i++ {
		if !f.is(i, "TVM_FFI_DLL_EXPORT_TYPED_FUNC", "(") {
			continue
		}
		end := closing(f.tokens, i+1)
		at, args := i, split(f.tokens[min(i+2, end):end], ",")
		i = end
		if len(args) != 2 || len(args[0]) != 1 {
			r.noteAt(f, at, "not read: an export has a name and a function")
			continue
		}
		r.boundFunction(f, at, args[0][0].text, args[1:])
	}
}
