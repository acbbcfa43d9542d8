package migrate

import "slices"

// find is the function that a registration in a file names: `&ns::f<T>`, `f`, `TORCH_FN(f)`, `py::overload_cast<A>(&f)`. It is the last
// word that stands in no arguments of a template. Of several with the name, one in the namespace that is written comes first, then one of
// that file; of its declarations, the one with the body. Other is one that fits as well, and takes something else.
func (r *reader) find(f *file, tokens []token) (c, other *cFunction, name string) {
	var spaces []string
	for i := 0; i < len(tokens); i++ {
		if tokens[i].text == "<" {
			if end := closingAngle(tokens, i); end > 0 {
				i = end
			}
		} else if tokens[i].kind == word {
			if i > 1 && tokens[i-1].text == "::" && tokens[i-2].kind == word {
				spaces = append(spaces, name)
			} else {
				spaces = nil
			}
			name = tokens[i].text
		}
	}
	r.registered[name] = true
	best := -1
	for _, d := range r.declared[name] {
		if rank := d.rank(f, spaces); rank > best {
			c, best, other = d, rank, nil
		} else if rank == best && other == nil && d.shape() != c.shape() {
			other = d
		}
	}
	if body := r.bodyOf(c); body != nil && slices.Equal(body.scope, c.scope) {
		c = body
	}
	return c, other, name
}

// rank says how well a function fits a name that is written in a file, with these namespaces before it.
func (c *cFunction) rank(f *file, spaces []string) int {
	return 2*boolInt(len(spaces) > 0 && c.within(spaces)) + boolInt(c.file.Name == f.Name)
}

// within says whether the innermost namespaces around a function are these.
func (c *cFunction) within(spaces []string) bool {
	from := len(c.scope) - len(spaces)
	return from >= 0 && slices.Equal(c.scope[from:], spaces)
}

// bodyOf is the function with the same parameters whose body was read: its own, else one in the same namespaces before others.
func (r *reader) bodyOf(c *cFunction) (found *cFunction) {
	if c == nil || c.body {
		return c
	}
	for _, d := range r.declared[c.name] {
		if d.body && len(d.params) == len(c.params) && d.shape() == c.shape() && (found == nil || slices.Equal(d.scope, c.scope) && !slices.Equal(found.scope, c.scope)) {
			found = d
		}
	}
	return found
}
