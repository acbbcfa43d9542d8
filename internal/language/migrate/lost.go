package migrate

import "slices"

// lostFunction is one that is not read where it stands.
type lostFunction struct {
	file *file
	at   int
	name string
	why  string
}

// lose remembers a function that is not read where it stands, once for each place that would say the same.
func (r *reader) lose(f *file, at int, name, why string) {
	if n := len(r.lost); n == 0 || r.lost[n-1].file != f || r.lost[n-1].why != why {
		r.lost = append(r.lost, lostFunction{f, at, name, why})
	}
}

// tellLost notes the functions of which no file has the part that is read.
func (r *reader) tellLost() {
	for _, l := range r.lost {
		if len(r.declared[l.name]) == 0 {
			r.noteAt(l.file, l.at, "not read: %s", l.why)
		}
	}
}

// arrays says whether parameters are such as those of ops: pointers or tensors.
func (v vocabulary) arrays(tokens []token) bool {
	return slices.ContainsFunc(tokens, func(t token) bool { return t.text == "*" || t.kind == word && v.kinds[t.text] == Array })
}

// qualified loses `void ns::f(float* y) {...}`, whose declaration in a header is what is read. It may also be a method.
func (r *reader) qualified(f *file, at int, tokens []token, open int) {
	name, end := tokens[open-1].text, closing(tokens, open)
	begin := open - 2
	for begin > 1 && tokens[begin].text == "::" && tokens[begin-1].kind == word {
		begin -= 2
	}
	if begin >= 0 && tokens[open-1].kind == word && r.types.arrays(tokens[open:end]) {
		r.lose(f, at, name, joined(tokens[begin+1:open])+": read the file that declares it, too, or write it within its namespace; a method of a class is no op")
	}
}

// members loses the static functions of the class that begins at a bracket.
func (r *reader) members(f *file, head []token, open int) {
	class := slices.IndexFunc(head, func(t token) bool { return t.text == "class" || t.text == "struct" })
	if class < 0 || class+1 >= len(head) || contains(head, "(") || contains(head, "=") {
		return
	}
	static := false
	for i := open + 1; i < closing(f.tokens, open); i++ {
		switch f.tokens[i].text {
		case "static":
			static = true
		case ";":
			static = false
		case "(", "[", "{":
			end := closing(f.tokens, i)
			if name := f.tokens[i-1]; static && f.tokens[i].text == "(" && name.kind == word && r.types.arrays(f.tokens[i:min(end, len(f.tokens))]) {
				r.noteAt(f, i, "not read: %s is a function of a class: write one in a namespace that calls it", name.text)
				static = false
			}
			static = static && f.tokens[i].text != "{"
			i = end
		}
	}
}
