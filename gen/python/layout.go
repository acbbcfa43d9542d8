package python

import (
	"strconv"
	"strings"
)

// lineLength is where ruff format breaks lines of generated Python. What is printed here must not change under it.
const lineLength = 100

// step is one level of indentation.
const step = "    "

// node is a piece of Python: plain text, or a bracketed list of pieces.
type node struct {
	// before holds all up to the opening bracket, after all from the closing one.
	before string
	items  []node
	after  string
}

func leaf(text string) node { return node{before: text} }

func leaves(texts []string) []node {
	out := make([]node, len(texts))
	for i, t := range texts {
		out[i] = leaf(t)
	}
	return out
}

// tupleNode is a tuple; one item needs a comma.
func tupleNode(before string, items []node) node {
	after := ")"
	if len(items) == 1 {
		after = ",)"
	}
	return node{before: before + "(", items: items, after: after}
}

func (n node) flat() string {
	items := make([]string, len(n.items))
	for i, item := range n.items {
		items[i] = item.flat()
	}
	return n.before + strings.Join(items, ", ") + n.after
}

// print lays the node out at an indentation: on one line if it fits before the tail that follows, else one item per line
// with a comma after the last.
func (n node) print(indent, tail string) string {
	if one := indent + n.flat() + tail; len(one) <= lineLength || len(n.items) == 0 {
		return one
	}
	return n.broken(indent, tail)
}

// broken prints one item per line with a comma after the last.
func (n node) broken(indent, tail string) string {
	var b strings.Builder
	b.WriteString(indent + n.before + "\n")
	for _, item := range n.items {
		b.WriteString(item.print(indent+"    ", ",") + "\n")
	}
	b.WriteString(indent + strings.TrimPrefix(n.after, ",") + tail)
	return b.String()
}

// bracketed prints a bracketed list of texts.
func bracketed(indent, before string, items []string, after string) string {
	return node{before, leaves(items), after}.print(indent, "")
}

// assignment gives one name, or several, what a call returns; too many names stand on a line each.
func assignment(indent string, names []string, value node) string {
	return assigned(indent, strings.Join(names, ", "), names, value)
}

// unpacking gives names the items of a tuple.
func unpacking(indent string, names []string, value node) string {
	return assigned(indent, unpack(names), names, value)
}

func assigned(indent, left string, names []string, value node) string {
	if len(indent+left+" = "+value.before) <= lineLength {
		value.before = left + " = " + value.before
		return value.print(indent, "")
	}
	return node{"(", leaves(names), ")"}.broken(indent, " = "+strings.TrimPrefix(value.print(indent, ""), indent))
}

// listed is a statement that ends with a tuple, which has parentheses only where it is too long for one line.
func listed(indent, before string, items []string) string {
	if one := indent + before + unpack(items); len(one) <= lineLength {
		return one
	}
	return node{before + "(", leaves(items), ")"}.broken(indent, "")
}

// returns is a return statement.
func returns(indent string, items []string) string {
	if len(items) == 1 {
		return indent + "return " + items[0]
	}
	return listed(indent, "return ", items)
}

// unpack prints names as a tuple without needless parentheses.
func unpack(names []string) string {
	if len(names) == 1 {
		return tuple(names)
	}
	return strings.Join(names, ", ")
}

// boolean is a condition: a text, or terms joined by "and" or "or"; not negates it.
type boolean struct {
	text  string
	not   bool
	join  string
	terms []boolean
}

func test(text string) boolean { return boolean{text: text} }

func tests(texts []string) []boolean {
	out := make([]boolean, len(texts))
	for i, t := range texts {
		out[i] = test(t)
	}
	return out
}

// anyOf and allOf join terms; a single one stays as it is.
func anyOf(terms []boolean) boolean { return joined("or", terms) }

func allOf(terms []boolean) boolean { return joined("and", terms) }

func joined(join string, terms []boolean) boolean {
	if len(terms) == 1 {
		return terms[0]
	}
	return boolean{join: join, terms: terms}
}

func not(term boolean) boolean {
	term.not = true
	return term
}

func (c boolean) flat() string {
	if c.join == "" {
		return c.opening() + c.text
	}
	parts := make([]string, len(c.terms))
	for i, t := range c.terms {
		parts[i] = t.operand()
	}
	return strings.Join(parts, " "+c.join+" ")
}

func (c boolean) opening() string {
	if c.not {
		return "not "
	}
	return ""
}

// operand is the term on one line as part of a larger condition.
func (c boolean) operand() string {
	if c.join == "" {
		return c.flat()
	}
	return c.opening() + "(" + c.flat() + ")"
}

// broken prints one term per line, each after its operator but for the first.
func (c boolean) broken(indent string) string {
	lines := make([]string, len(c.terms))
	for i, t := range c.terms {
		lines[i] = indent
		if i > 0 {
			lines[i] += c.join + " "
		}
		if one := lines[i] + t.operand(); len(one) <= lineLength || t.join == "" {
			lines[i] = one
			continue
		}
		lines[i] += t.opening() + t.parenthesised(indent)
	}
	return strings.Join(lines, "\n")
}

// parenthesised prints the condition between parentheses on lines of their own.
func (c boolean) parenthesised(indent string) string {
	in := indent + "    "
	body := in + c.flat()
	if len(body) > lineLength {
		body = c.broken(in)
	}
	return "(\n" + body + "\n" + indent + ")"
}

// ifHead writes the head of an if statement.
func ifHead(indent string, c boolean) string {
	if one := indent + "if " + c.flat() + ":"; len(one) <= lineLength || c.join == "" {
		return one
	}
	return indent + "if " + c.parenthesised(indent) + ":"
}

// quote quotes as ruff format does: double quotes, unless single ones need fewer escapes.
func quote(s string) string {
	quoted := strconv.Quote(s)
	if strings.Count(s, `"`) <= strings.Count(s, "'") {
		return quoted
	}
	inner := strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
	return "'" + strings.ReplaceAll(inner, "'", `\'`) + "'"
}

func tuple(items []string) string { return tupleNode("", leaves(items)).flat() }

func boolText(b bool) string {
	if b {
		return "True"
	}
	return "False"
}
