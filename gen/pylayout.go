package gen

import (
	"strconv"
	"strings"
)

// lineLength is where ruff format breaks lines of generated Python. What is printed here must not change under it.
const lineLength = 100

// pyIndent is one step of indentation.
const pyIndent = "    "

// pyNode is a piece of Python: plain text, or a bracketed list of pieces.
type pyNode struct {
	// before holds all up to the opening bracket, after all from the closing one.
	before string
	items  []pyNode
	after  string
}

func leaf(text string) pyNode { return pyNode{before: text} }

func leaves(texts []string) []pyNode {
	out := make([]pyNode, len(texts))
	for i, t := range texts {
		out[i] = leaf(t)
	}
	return out
}

// tupleNode is a tuple; one item needs a comma.
func tupleNode(before string, items []pyNode) pyNode {
	after := ")"
	if len(items) == 1 {
		after = ",)"
	}
	return pyNode{before: before + "(", items: items, after: after}
}

func (n pyNode) flat() string {
	items := make([]string, len(n.items))
	for i, item := range n.items {
		items[i] = item.flat()
	}
	return n.before + strings.Join(items, ", ") + n.after
}

// print lays the node out at an indentation: on one line if it fits before the tail that follows, else one item per line
// with a comma after the last.
func (n pyNode) print(indent, tail string) string {
	if one := indent + n.flat() + tail; len(one) <= lineLength || len(n.items) == 0 {
		return one
	}
	var b strings.Builder
	b.WriteString(indent + n.before + "\n")
	for _, item := range n.items {
		b.WriteString(item.print(indent+"    ", ",") + "\n")
	}
	b.WriteString(indent + strings.TrimPrefix(n.after, ",") + tail)
	return b.String()
}

// pyLayout prints a bracketed list of texts.
func pyLayout(indent, before string, items []string, after string) string {
	return pyNode{before, leaves(items), after}.print(indent, "")
}

// pyBoolean is a condition: a text, or terms joined by "and" or "or"; not negates it.
type pyBoolean struct {
	text  string
	not   bool
	join  string
	terms []pyBoolean
}

func test(text string) pyBoolean { return pyBoolean{text: text} }

func tests(texts []string) []pyBoolean {
	out := make([]pyBoolean, len(texts))
	for i, t := range texts {
		out[i] = test(t)
	}
	return out
}

// anyOf and allOf join terms; a single one stays as it is.
func anyOf(terms []pyBoolean) pyBoolean { return joined("or", terms) }

func allOf(terms []pyBoolean) pyBoolean { return joined("and", terms) }

func joined(join string, terms []pyBoolean) pyBoolean {
	if len(terms) == 1 {
		return terms[0]
	}
	return pyBoolean{join: join, terms: terms}
}

func not(term pyBoolean) pyBoolean {
	term.not = true
	return term
}

func (c pyBoolean) flat() string {
	if c.join == "" {
		return c.opening() + c.text
	}
	parts := make([]string, len(c.terms))
	for i, t := range c.terms {
		parts[i] = t.operand()
	}
	return strings.Join(parts, " "+c.join+" ")
}

func (c pyBoolean) opening() string {
	if c.not {
		return "not "
	}
	return ""
}

// operand is the term on one line as part of a larger condition.
func (c pyBoolean) operand() string {
	if c.join == "" {
		return c.flat()
	}
	return c.opening() + "(" + c.flat() + ")"
}

// broken prints one term per line, each after its operator but for the first.
func (c pyBoolean) broken(indent string) string {
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
func (c pyBoolean) parenthesised(indent string) string {
	in := indent + "    "
	body := in + c.flat()
	if len(body) > lineLength {
		body = c.broken(in)
	}
	return "(\n" + body + "\n" + indent + ")"
}

// pyIf writes the head of an if statement.
func pyIf(indent string, c pyBoolean) string {
	if one := indent + "if " + c.flat() + ":"; len(one) <= lineLength || c.join == "" {
		return one
	}
	return indent + "if " + c.parenthesised(indent) + ":"
}

// pyString quotes as ruff format does: double quotes, unless single ones need fewer escapes.
func pyString(s string) string {
	quoted := strconv.Quote(s)
	if strings.Count(s, `"`) <= strings.Count(s, "'") {
		return quoted
	}
	inner := strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
	return "'" + strings.ReplaceAll(inner, "'", `\'`) + "'"
}

func pyTuple(items []string) string { return tupleNode("", leaves(items)).flat() }

func pyBool(b bool) string {
	if b {
		return "True"
	}
	return "False"
}
