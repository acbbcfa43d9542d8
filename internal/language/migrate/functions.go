package migrate

import (
	"regexp"
	"slices"
	"strings"
)

// cFunction is a function that a source declares.
type cFunction struct {
	name string
	// scope are the namespaces around it.
	scope []string
	file  *file
	line  int
	// template are the parameters of its template, all of which must be types for a call to be written.
	template []string
	untyped  bool
	externC  bool
	// hidden says that other files cannot call it: it is static or in a namespace without a name.
	hidden bool
	// global says that it is __global__ or __device__, and nothing that the CPU calls.
	global bool
	// body says that it is defined, by what begins at the token open.
	body   bool
	open   int
	result []token
	params []Param
	// declaration is the function without its template and its namespaces, as another file can declare it.
	declaration string
	// instances are the arguments of its explicit instantiations, others the functions of the same name.
	instances []string
	others    []*cFunction
}

// called is how another file names the function.
func (c *cFunction) called() string {
	return "::" + strings.Join(append(slices.Clone(c.scope), c.name), "::")
}

// scopeKind says what a bracket encloses.
type scope struct {
	name   string // of a namespace; "" for extern "C" and inline namespaces without effect
	hidden bool
	c      bool
}

// declarations finds the functions that a file declares outside of classes and functions.
func (r *reader) declarations(f *file) {
	f.statements(func(scopes []scope, start, end int) {
		r.declaration(f, scopes, f.tokens[start:end], start, f.is(end, "{"))
		if f.is(end, "{") {
			r.members(f, f.tokens[start:end], end)
		}
	})
}

// statements visits what stands outside of classes and functions, to the ; or the { that ends it.
func (f *file) statements(visit func(scopes []scope, start, end int)) {
	var scopes []scope
	start := 0
	for i := 0; i < len(f.tokens); i++ {
		if f.tokens[i].kind != punctuation {
			continue
		}
		switch f.tokens[i].text {
		case "(", "[":
			macro := i == start+1 && f.usesMacro(start)
			if i = closing(f.tokens, i); macro {
				visit(scopes, start, i+1)
				start = i + 1
			}
		case ";":
			visit(scopes, start, i)
			start = i + 1
		case "}":
			if len(scopes) > 0 {
				scopes = scopes[:len(scopes)-1]
			}
			start = i + 1
		case "{":
			if s, ok := opensScope(f.tokens[start:i]); ok {
				scopes = append(scopes, s...)
				start = i + 1
				continue
			}
			visit(scopes, start, i)
			i = closing(f.tokens, i)
			start = i + 1
			if start < len(f.tokens) && f.tokens[start].text == ";" { // behind a class
				i, start = start, start+1
			}
		}
	}
}

// usesMacro says whether a macro that needs no semicolon is used at the start of a statement: `MAKE(f, float)`, before the next one.
func (f *file) usesMacro(start int) bool {
	end := closing(f.tokens, start+1)
	name := f.tokens[start]
	return name.kind == word && !strings.HasPrefix(name.text, "__") && name.text != "alignas" && name.text != "decltype" &&
		(end+1 < len(f.tokens) && f.tokens[end+1].kind == word || f.is(end+1, "[", "[") || f.is(end+1, "::"))
}

// opensScope says whether a { behind the tokens begins a namespace or extern "C". A nested namespace counts as one scope.
func opensScope(tokens []token) ([]scope, bool) {
	if len(tokens) == 2 && tokens[0].text == "extern" && tokens[1].kind == text {
		return []scope{{c: true}}, true
	}
	at := slices.IndexFunc(tokens, func(t token) bool { return t.text == "namespace" })
	if at < 0 || at > 1 || slices.ContainsFunc(tokens, func(t token) bool { return t.text == "(" || t.text == "=" }) {
		return nil, false
	}
	var parts []string
	for _, t := range tokens[at+1:] {
		if t.kind == word {
			parts = append(parts, t.text)
		}
	}
	return []scope{{name: strings.Join(parts, "::"), hidden: len(parts) == 0}}, true
}

// specifiers stand before what a function returns. Words in capitals, such as those that export a symbol, do, too.
var specifiers = []string{"static", "inline", "extern", "constexpr", "virtual", "friend", "__host__", "__device__", "__global__", "__forceinline__", "__noinline__"}

var capitals = regexp.MustCompile(`^_*[A-Z][A-Z0-9_]{3,}$`)

// declaration reads one statement. What is no function is left alone.
func (r *reader) declaration(f *file, scopes []scope, tokens []token, at int, body bool) {
	c := &cFunction{file: f, line: f.line(at), body: body}
	for _, s := range scopes {
		c.hidden, c.externC = c.hidden || s.hidden, c.externC || s.c
		if s.name != "" {
			c.scope = append(c.scope, strings.Split(s.name, "::")...)
		}
	}
	if r.instantiates(f, at, tokens) {
		return
	}
	c.open = at + len(tokens)
	tokens = c.head(tokens)
	open := parameterList(tokens)
	if open == 1 && tokens[0].kind == word && (capitals.MatchString(tokens[0].text) || f.usesMacro(at)) {
		r.macro(f, at, tokens[0].text)
	}
	if open > 3 && tokens[open-2].text == "::" {
		r.qualified(f, at, tokens, open)
	}
	if open < 1 || tokens[open-1].kind != word || open > 1 && tokens[open-2].text == "::" {
		return
	}
	end := closing(tokens, open)
	c.name, c.result = tokens[open-1].text, tokens[:open-1]
	if len(c.result) == 0 || end == len(tokens) || slices.ContainsFunc(c.result, func(t token) bool {
		return t.text == "=" || t.text == "(" || t.text == "return" || t.text == "using" || t.text == "typedef" || t.text == "operator" || t.kind == number
	}) {
		return
	}
	if len(tokens) > end+1 && tokens[end+1].text == "->" { // auto f(...) -> T
		c.result = tokens[end+2:]
	}
	list := split(tokens[open+1:end], ",")
	for i, part := range list {
		if i == 0 && len(list) == 1 && joined(part) == "void" || len(part) == 0 {
			continue
		}
		c.params = append(c.params, cppParam(part, r.types.within(c.template)))
	}
	c.line = f.line(at) + tokens[open-1].line - f.line(at)
	c.declaration = joined(c.result) + " " + c.name + "(" + parameters(c.params) + ")"
	r.declare(c)
}

// registrations are macros that other readers read.
var registrations = regexp.MustCompile(`TORCH_LIBRARY|^PYBIND11_|^NB_MODULE|^TVM_FFI_`)

// macro notes what may declare functions, once for each macro of a file.
func (r *reader) macro(f *file, at int, name string) {
	if key := f.Name + "\n" + name; !registrations.MatchString(name) && !r.macros[key] {
		r.macros[key] = true
		r.noteAt(f, at, "not read: %s(...): what a macro declares is known to the compiler only", name)
	}
}

// parameters are those of a declaration, without defaults.
func parameters(params []Param) string {
	var list []string
	for _, p := range params {
		list = append(list, strings.TrimSpace(p.Type+" "+p.Name))
	}
	return strings.Join(list, ", ")
}

// head takes the template and the specifiers from the tokens of a function.
func (c *cFunction) head(tokens []token) []token {
	for len(tokens) > 0 {
		t := tokens[0]
		switch {
		case t.text == "template" && len(tokens) > 1 && tokens[1].text == "<":
			end := closingAngle(tokens, 1)
			if end < 0 {
				return nil
			}
			c.templated(split(tokens[2:end], ","))
			tokens = tokens[end+1:]
		case t.text == "[" || len(tokens) > 1 && tokens[1].text == "(" && (strings.HasPrefix(t.text, "__") || t.text == "alignas"):
			tokens = tokens[min(len(tokens), closing(tokens, boolInt(t.text != "["))+1):]
		case slices.Contains(specifiers, t.text):
			c.hidden = c.hidden || t.text == "static" && len(c.template) == 0
			c.global = c.global || t.text == "__global__" || t.text == "__device__" && !contains(tokens, "__host__")
			c.externC = c.externC || t.text == "extern" && len(tokens) > 1 && tokens[1].kind == text
			tokens = tokens[1:]
		case t.kind == text, t.kind == word && capitals.MatchString(t.text) && len(tokens) > 1 && tokens[1].kind == word:
			tokens = tokens[1:]
		default:
			return tokens
		}
	}
	return nil
}

func contains(tokens []token, text string) bool {
	return slices.ContainsFunc(tokens, func(t token) bool { return t.text == text })
}

// templated takes the parameters of a template. Only types that have no default can be given by a call that knows dtypes.
func (c *cFunction) templated(params [][]token) {
	for _, p := range params {
		if len(p) == 2 && (p[0].text == "typename" || p[0].text == "class") {
			c.template = append(c.template, p[1].text)
		} else {
			c.untyped = true
		}
	}
}

// parameterList is the index of the ( that begins the parameters of a function, or -1.
func parameterList(tokens []token) int {
	for i, t := range tokens {
		if t.kind != punctuation {
			continue
		}
		switch t.text {
		case "(":
			return i
		case "=", "{", "[", ".":
			return -1
		}
	}
	return -1
}

// instantiates reads instances of templates. A call finds what is specialised as it finds what is instantiated.
func (r *reader) instantiates(f *file, at int, tokens []token) bool {
	switch {
	case len(tokens) < 2 || tokens[0].text != "template":
		return false
	case tokens[1].text != "<":
		r.instance(f, at, tokens[1:])
		return true
	case len(tokens) > 2 && tokens[2].text == ">":
		r.instance(f, at, tokens[3:])
		return true
	}
	return false
}

// instance reads `template void f<float>(...)`.
func (r *reader) instance(f *file, at int, tokens []token) {
	open := slices.IndexFunc(tokens, func(t token) bool { return t.text == "<" })
	if open < 1 || tokens[open-1].kind != word {
		return
	}
	if end := closingAngle(tokens, open); end > 0 {
		name := tokens[open-1].text
		r.lose(f, at, name, "no file has the template of "+name+": read the file that declares it, too")
		r.instances[name] = append(r.instances[name], joined(tokens[open+1:end]))
	}
}
