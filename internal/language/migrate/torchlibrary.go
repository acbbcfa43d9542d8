package migrate

import (
	"regexp"
	"slices"
	"strings"
)

// torchLibraries reads the blocks of TORCH_LIBRARY and its relatives: TORCH_LIBRARY_FRAGMENT, TORCH_LIBRARY_IMPL, and those that
// projects and PyTorch's stable ABI name like them.
func (r *reader) torchLibraries(f *file) {
	for i := 0; i < len(f.tokens); i++ {
		name := f.tokens[i].text
		if f.tokens[i].kind != word || !strings.Contains(name, "TORCH_LIBRARY") || !f.is(i+1, "(") {
			continue
		}
		end := closing(f.tokens, i+1)
		if !f.is(end+1, "{") {
			continue
		}
		args := split(f.tokens[min(i+2, end):end], ",")
		if len(args) == 0 || len(args[len(args)-1]) == 0 {
			continue
		}
		device := ""
		if strings.HasSuffix(name, "IMPL") && len(args) == 3 {
			device = joined(args[1])
		}
		last := args[len(args)-1]
		r.library(f, end+1, last[len(last)-1].text, device)
		i = closing(f.tokens, end+1)
	}
}

// library reads the block that begins at an index, in which the library has a name.
func (r *reader) library(f *file, open int, library, device string) {
	r.others(f, open, library)
	r.libraryBlock(f, open, closing(f.tokens, open), library, device)
}

// libraryBlock reads the registrations between two tokens, and those of macros there.
func (r *reader) libraryBlock(f *file, start, end int, library, device string) {
	for i := start; i < end; i++ {
		switch {
		case f.is(i, library) && (f.is(i+1, ".") || f.is(i+1, "->")):
			i = r.registrationsAt(f, i+1, end, library, device)
		case r.binding[f.tokens[i].text] != nil:
			i = r.expanded(f, i, func(body *file) { r.libraryBlock(body, 0, len(body.tokens), library, device) })
		}
	}
}

// registrationsAt reads m.def(...).impl(...) from the index of a dot on, and returns the index of its end.
func (r *reader) registrationsAt(f *file, dot, end int, library, device string) int {
	for f.is(dot, ".") || f.is(dot, "->") {
		if dot+1 >= end {
			break
		}
		method, at := f.tokens[dot+1].text, dot+2
		if f.is(at, "<") {
			if close := closingAngle(f.tokens, at); close > 0 {
				at = close + 1
			}
		}
		if !f.is(at, "(") {
			break
		}
		stop := closing(f.tokens, at)
		args := split(f.tokens[min(at+1, stop):stop], ",")
		switch method {
		case "def":
			r.schemaDef(f, dot, args)
		case "impl":
			r.implementation(args, device)
		case "doc", "set_python_module", "import_":
		default:
			r.noteAt(f, dot, "not read: %s.%s: only def and impl declare ops", library, method)
			return stop // what follows are methods of a class
		}
		dot = stop + 1
	}
	return dot - 1
}

// others notes what else a block of registrations calls: macros, and functions that get the library. Both may register more.
func (r *reader) others(f *file, open int, library string) {
	start := open + 1
	for i := start; i < closing(f.tokens, open); i++ {
		t := f.tokens[i]
		if t.kind != punctuation {
			continue
		}
		switch t.text {
		case ";", "}":
			start = i + 1
		case "(":
			end := closing(f.tokens, i)
			name := joined(f.tokens[start:i])
			if qualifiedName.MatchString(name) && !slices.Contains(statements, name) && r.binding[name] == nil && (capitals.MatchString(name) || slices.ContainsFunc(f.tokens[i:end], func(t token) bool {
				return t.kind == word && t.text == library
			})) {
				r.noteAt(f, start, "not read: %s(...): what that registers is known to the compiler only", name)
			}
			i = end
		case "{":
			i = closing(f.tokens, i)
			start = i + 1
		}
	}
}

// statements look like calls.
var statements = []string{"if", "for", "while", "switch", "return", "static_assert"}

var qualifiedName = regexp.MustCompile(`^\w+(::\w+)*$`)

// schemaDef reads m.def("schema") and m.def("name", function).
func (r *reader) schemaDef(f *file, at int, args [][]token) {
	if len(args) == 0 {
		return
	}
	written, ok := stringOf(args[0])
	if !ok {
		r.noteAt(f, at, "not read: %s: its first argument is no string", shortened(args))
		return
	}
	if !strings.Contains(written, "(") {
		r.boundFunction(f, at, written, args[1:])
		return
	}
	fn, err := schema(written)
	if err != nil {
		r.noteAt(f, at, "not read: %q: %v", written, err)
		return
	}
	fn.File, fn.Line, fn.Device = f.Name, f.line(at), r.deviceOf(f)
	if len(args) > 1 {
		r.find(f, args[1])
	}
	r.functions = append(r.functions, fn)
}

// implementation reads m.impl("name", torch::kCUDA, &f), or m.impl("name", &f) in a block for one device.
func (r *reader) implementation(args [][]token, device string) {
	if len(args) < 2 {
		return
	}
	r.find(r.module, args[len(args)-1])
	name, _ := stringOf(args[0])
	if len(args) > 2 {
		device = joined(args[1])
	}
	for _, known := range []string{"cuda", "cpu", "rocm"} {
		key := strings.Replace(known, "rocm", "hip", 1) // as in torch::kHIP
		if strings.Contains(strings.ToLower(device), key) {
			name = name[strings.LastIndexByte(name, ':')+1:]
			name, _, _ = strings.Cut(name, ".") // an overload
			r.devices[name] = append(r.devices[name], known)
			return
		}
	}
}

// placed gives functions the devices for which they are registered, which may stand before what declares them.
func (r *reader) placed() {
	for i := range r.functions {
		fn := &r.functions[i]
		devices := r.devices[fn.Name]
		if len(devices) == 0 {
			continue
		}
		fn.Device = devices[0]
		if other := slices.IndexFunc(devices, func(d string) bool { return d != fn.Device }); other >= 0 {
			r.note(fn.File, fn.Line, "%s: drafted for %s only, and registered for %s, too: one op has a kernel for each, which you add", fn.Name, fn.Device, devices[other])
		}
	}
}

// deviceOf is what a file is for, as far as its name and its words tell.
func (r *reader) deviceOf(f *file) string {
	if slices.ContainsFunc([]string{".cu", ".cuh", ".hip"}, func(end string) bool { return strings.HasSuffix(f.Name, end) }) {
		return gpuOf(f)
	}
	return "cpu"
}

// gpuOf is whose GPUs a file is for.
func gpuOf(f *file) string {
	if strings.HasSuffix(f.Name, ".hip") || contains(f.tokens, "hipStream_t") {
		return "rocm"
	}
	return "cuda"
}

// stringOf is the string that tokens are: literals one after the other, also within a macro such as TORCH_SELECTIVE_SCHEMA.
func stringOf(tokens []token) (string, bool) {
	if len(tokens) > 2 && tokens[0].kind == word && tokens[1].text == "(" {
		tokens = tokens[2 : len(tokens)-1]
	}
	var b strings.Builder
	for _, t := range tokens {
		if t.kind != text {
			return "", false
		}
		b.WriteString(t.text)
	}
	return b.String(), len(tokens) > 0
}

// shortened are the arguments of a call, as far as a line of the terminal shows them.
func shortened(args [][]token) string {
	const longest = 60
	words := make([]string, len(args))
	for i, a := range args {
		words[i] = joined(a)
	}
	all := []rune("def(" + strings.Join(words, ", ") + ")")
	if len(all) > longest {
		return string(all[:longest]) + "..."
	}
	return string(all)
}
