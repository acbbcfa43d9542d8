// Package layout breaks Python into lines, so that ruff format changes none of them.
package layout

import (
	"strconv"
	"strings"
)

// LineLength is where ruff format breaks lines of generated Python. What is printed here must not change under it.
const LineLength = 100

// Step is one level of indentation.
const Step = "    "

// Node is a piece of Python: plain text, or a bracketed list of pieces.
type Node struct {
	// before holds all up to the opening bracket, after all from the closing one.
	before string
	items  []Node
	after  string
}

// Leaf is plain text.
func Leaf(text string) Node { return Node{before: text} }

// List is a bracketed list: before holds all up to the opening bracket, after all from the closing one.
func List(before string, items []Node, after string) Node { return Node{before, items, after} }

// Leaves are plain texts.
func Leaves(texts []string) []Node {
	out := make([]Node, len(texts))
	for i, t := range texts {
		out[i] = Leaf(t)
	}
	return out
}

// TupleNode is a tuple; one item needs a comma.
func TupleNode(before string, items []Node) Node {
	after := ")"
	if len(items) == 1 {
		after = ",)"
	}
	return Node{before: before + "(", items: items, after: after}
}

// Flat is the node on one line.
func (n Node) Flat() string {
	items := make([]string, len(n.items))
	for i, item := range n.items {
		items[i] = item.Flat()
	}
	return n.before + strings.Join(items, ", ") + n.after
}

// Print lays the node out at an indentation: on one line if it fits before the tail that follows, else one item per line
// with a comma after the last.
func (n Node) Print(indent, tail string) string {
	if one := indent + n.Flat() + tail; len(one) <= LineLength || len(n.items) == 0 {
		return one
	}
	return n.broken(indent, tail)
}

// broken prints one item per line with a comma after the last.
func (n Node) broken(indent, tail string) string {
	var b strings.Builder
	b.WriteString(indent + n.before + "\n")
	for _, item := range n.items {
		b.WriteString(item.Print(indent+"    ", ",") + "\n")
	}
	b.WriteString(indent + strings.TrimPrefix(n.after, ",") + tail)
	return b.String()
}

// Bracketed prints a bracketed list of texts.
func Bracketed(indent, before string, items []string, after string) string {
	return Node{before, Leaves(items), after}.Print(indent, "")
}

// Assignment gives one name, or several, what a call returns; too many names stand on a line each.
func Assignment(indent string, names []string, value Node) string {
	return assigned(indent, strings.Join(names, ", "), names, value)
}

// Unpacking gives names the items of a tuple.
func Unpacking(indent string, names []string, value Node) string {
	return assigned(indent, unpack(names), names, value)
}

func assigned(indent, left string, names []string, value Node) string {
	if len(indent+left+" = "+value.before) <= LineLength {
		value.before = left + " = " + value.before
		return value.Print(indent, "")
	}
	return Node{"(", Leaves(names), ")"}.broken(indent, " = "+strings.TrimPrefix(value.Print(indent, ""), indent))
}

// Listed is a statement that ends with a tuple, which has parentheses only where it is too long for one line.
func Listed(indent, before string, items []string) string {
	if one := indent + before + unpack(items); len(one) <= LineLength {
		return one
	}
	return Node{before + "(", Leaves(items), ")"}.broken(indent, "")
}

// Returns is a return statement.
func Returns(indent string, items []string) string {
	if len(items) == 1 {
		return indent + "return " + items[0]
	}
	return Listed(indent, "return ", items)
}

// unpack prints names as a tuple without needless parentheses.
func unpack(names []string) string {
	if len(names) == 1 {
		return Tuple(names)
	}
	return strings.Join(names, ", ")
}

// Boolean is a condition: a text, or terms joined by "and" or "or"; not negates it.
type Boolean struct {
	text  string
	not   bool
	join  string
	terms []Boolean
}

// Test is a condition that is a text.
func Test(text string) Boolean { return Boolean{text: text} }

// AnyOf joins terms of which one must hold; a single one stays as it is.
func AnyOf(terms []Boolean) Boolean { return joined("or", terms) }

// AllOf joins terms which all must hold; a single one stays as it is.
func AllOf(terms []Boolean) Boolean { return joined("and", terms) }

func joined(join string, terms []Boolean) Boolean {
	if len(terms) == 1 {
		return terms[0]
	}
	return Boolean{join: join, terms: terms}
}

// Not negates a condition.
func Not(term Boolean) Boolean {
	term.not = true
	return term
}

func (c Boolean) flat() string {
	if c.join == "" {
		return c.opening() + c.text
	}
	parts := make([]string, len(c.terms))
	for i, t := range c.terms {
		parts[i] = t.operand()
	}
	return strings.Join(parts, " "+c.join+" ")
}

func (c Boolean) opening() string {
	if c.not {
		return "not "
	}
	return ""
}

// operand is the term on one line as part of a larger condition.
func (c Boolean) operand() string {
	if c.join == "" {
		return c.flat()
	}
	return c.opening() + "(" + c.flat() + ")"
}

// broken prints one term per line, each after its operator but for the first.
func (c Boolean) broken(indent string) string {
	lines := make([]string, len(c.terms))
	for i, t := range c.terms {
		lines[i] = indent
		if i > 0 {
			lines[i] += c.join + " "
		}
		if one := lines[i] + t.operand(); len(one) <= LineLength || t.join == "" {
			lines[i] = one
			continue
		}
		lines[i] += t.opening() + t.parenthesised(indent)
	}
	return strings.Join(lines, "\n")
}

// parenthesised prints the condition between parentheses on lines of their own.
func (c Boolean) parenthesised(indent string) string {
	in := indent + "    "
	body := in + c.flat()
	if len(body) > LineLength {
		body = c.broken(in)
	}
	return "(\n" + body + "\n" + indent + ")"
}

// IfHead writes the head of an if statement.
func IfHead(indent string, c Boolean) string {
	if one := indent + "if " + c.flat() + ":"; len(one) <= LineLength || c.join == "" {
		return one
	}
	return indent + "if " + c.parenthesised(indent) + ":"
}

// Quote quotes as ruff format does: double quotes, unless single ones need fewer escapes.
func Quote(s string) string {
	quoted := strconv.Quote(s)
	if strings.Count(s, `"`) <= strings.Count(s, "'") {
		return quoted
	}
	inner := strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
	return "'" + strings.ReplaceAll(inner, "'", `\'`) + "'"
}

// Tuple is a tuple of texts on one line.
func Tuple(items []string) string { return TupleNode("", Leaves(items)).Flat() }

// BoolText is how Python writes a boolean.
func BoolText(b bool) string {
	if b {
		return "True"
	}
	return "False"
}
