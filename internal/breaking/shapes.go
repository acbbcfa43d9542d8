package breaking

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/opdef/expr"
)

var symbol = regexp.MustCompile(`'[^']*'|[A-Za-z_][A-Za-z0-9_]*`)

// sizes names the sizes of an op by the order in which its arguments mention them: what a size is called is nothing that a call
// could tell. Lets stand for their expressions.
type sizes struct {
	op     *opdef.Op
	names  map[string]string
	shapes map[string]string
}

func sizesOf(op *opdef.Op) sizes {
	s := sizes{op, map[string]string{}, map[string]string{}}
	for _, a := range slices.Concat(op.Inputs, op.Outputs) {
		_, dims, _ := strings.Cut(a.Type.Text, "[")
		s.shapes[a.Name] = s.renamed(dims, true)
	}
	return s
}

// text is an expression with the sizes' new names; it is empty where there is none.
func (s sizes) text(e *expr.Expr) string {
	if e == nil {
		return ""
	}
	return s.renamed(e.Text, false)
}

// renamed replaces sizes in a text. Names of arguments, words and functions of the language stay. In a type, what is left is a
// size, which gets a name.
func (s sizes) renamed(text string, typed bool) string {
	return symbol.ReplaceAllStringFunc(normal.Replace(text), func(word string) string {
		attr := func(a opdef.Attr) bool { return a.Name == word }
		switch {
		case word[0] == '\'' || s.op.InputIndex(word) >= 0 || slices.ContainsFunc(s.op.Attrs, attr) || slices.Contains(words, word):
			return word
		case s.names[word] != "":
			return s.names[word]
		}
		for _, let := range s.op.Lets {
			if let.Name == word {
				return "(" + s.renamed(let.Expr.Text, typed) + ")"
			}
		}
		if !typed {
			return word
		}
		s.names[word] = fmt.Sprintf("$%d", len(s.names))
		return s.names[word]
	})
}

// normal leaves out spaces that separate no words.
var normal = strings.NewReplacer(" + ", "+", " - ", "-", " * ", "*", " // ", "//", ", ", ",")

var words = []string{"if", "else", "and", "or", "not", "min", "max", "ceildiv", "sum", "len"}

// requirements compares conditions by their text.
func (c *comparison) requirements(old, op *opdef.Op) {
	for _, is := range op.Requires {
		if !slices.ContainsFunc(old.Requires, func(was *expr.Expr) bool { return c.before.text(was) == c.after.text(is) }) {
			c.breaks("calls have to keep %s", is.Text)
		}
	}
}

// dtypes compares which combinations of dtypes calls may have, argument by argument and pair by pair.
func (c *comparison) dtypes(old, op *opdef.Op) {
	args, others := slices.Concat(old.Inputs, old.Outputs), slices.Concat(op.Inputs, op.Outputs)
	find := func(name string) (opdef.Arg, bool) {
		i := slices.IndexFunc(others, func(a opdef.Arg) bool { return a.Name == name })
		if i < 0 {
			return opdef.Arg{}, false
		}
		return others[i], true
	}
	for i, was := range args {
		is, ok := find(was.Name)
		if !ok || was.Saved {
			continue
		}
		before, after := allowed(old, was), allowed(op, is)
		for _, dtype := range without(before, after) {
			c.breaks("%s cannot be %s any more", was.Name, dtype)
		}
		if i >= len(old.Inputs) && was.Type.Var == "" && is.Type.Var != "" {
			c.note("the dtype of %s depends on the call now", was.Name)
		}
		for _, first := range args[:i] {
			together, ok := find(first.Name)
			tied := func(a, b opdef.Arg) bool { return a.Type.Var != "" && a.Type.Var == b.Type.Var }
			switch {
			case !ok || first.Saved:
			case !tied(first, was) && tied(together, is) && len(after) > 1:
				c.breaks("%s and %s need the same dtype now", first.Name, was.Name)
			case tied(first, was) && !tied(together, is) && i >= len(old.Inputs) && len(before) > 1:
				c.breaks("%s has not the dtype of %s any more", was.Name, first.Name)
			}
		}
	}
}

// allowed are the dtypes that an argument may have.
func allowed(op *opdef.Op, a opdef.Arg) []string {
	if a.Type.Var == "" {
		return []string{a.Type.DType}
	}
	for _, v := range op.DTypes {
		if v.Name == a.Type.Var {
			return v.OneOf
		}
	}
	return nil
}
