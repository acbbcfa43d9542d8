package python

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/opcast/opcast/gen/internal/python/layout"
	"github.com/opcast/opcast/gen/internal/view"
	"github.com/opcast/opcast/internal/language/opdef/expr"
)

// code is a piece of Python, with the names of variables that it reads.
type code struct {
	text  string
	reads []string
}

// String is the text, so that a piece can stand in the format of a larger one.
func (c code) String() string { return c.text }

// reading is a piece that reads one variable.
func reading(name string) code { return code{name, []string{name}} }

// codef formats a piece of Python; it reads what its parts read.
func codef(format string, args ...any) code {
	c := code{text: fmt.Sprintf(format, args...)}
	for _, a := range args {
		if part, ok := a.(code); ok {
			c.reads = append(c.reads, part.reads...)
		}
	}
	return c
}

// commaSeparated joins pieces.
func commaSeparated(items []code) code {
	var c code
	for _, item := range items {
		c.reads = append(c.reads, item.reads...)
	}
	c.text = strings.Join(texts(items), ", ")
	return c
}

// tupleOf is a tuple of pieces.
func tupleOf(items []code) code {
	return code{layout.Tuple(texts(items)), commaSeparated(items).reads}
}

func texts(items []code) []string {
	out := make([]string, len(items))
	for i, item := range items {
		out[i] = item.text
	}
	return out
}

// noting gives the names of symbols to a printer of expressions, and adds what they read to a piece.
func noting(c *code, name func(string) code) func(string) string {
	return func(symbol string) string {
		part := name(symbol)
		c.reads = append(c.reads, part.reads...)
		return part.text
	}
}

// alone is an expression that is part of no other: a choice needs no parentheses then.
func alone(c code, e *expr.Expr) code {
	if e.Op == expr.OpIf {
		c.text = strings.TrimSuffix(strings.TrimPrefix(c.text, "("), ")")
	}
	return c
}

// statement is one of a function's body: an assignment if it has targets, a compound one if it has a body.
type statement struct {
	targets []string
	code
	body []statement
	// given is the argument whose presence is all that the head asks for, or empty.
	given string
}

// do is a statement for its effect.
func do(format string, args ...any) []statement {
	return []statement{{code: codef(format, args...)}}
}

// set assigns a value to variables.
func set(value code, targets ...code) []statement {
	return []statement{{targets: texts(targets), code: value}}
}

// block puts statements under a head.
func block(head code, body []statement) []statement {
	return []statement{{code: head, body: body}}
}

// otherwise puts statements under an else, or one that is an if itself into an elif.
func otherwise(body []statement) []statement {
	if len(body) == 1 && strings.HasPrefix(body[0].text, "if ") {
		only := body[0]
		only.text = "el" + only.text
		return []statement{only}
	}
	return block(codef("else:"), body)
}

// raise guards an error by a condition.
func raise(condition code, format string, args ...any) []statement {
	return block(codef("if %s:", condition), do("raise "+format, args...))
}

// ifGiven puts statements under the condition that an argument is given.
func ifGiven(arg code, body []statement) []statement {
	out := block(codef("if %s is not None:", arg), body)
	out[0].given = arg.text
	return out
}

// joinGiven puts statements that follow each other under the condition that the same argument is given under one such condition.
// None of them takes the argument away.
func joinGiven(body []statement) (out []statement) {
	for _, s := range body {
		s.body = joinGiven(s.body)
		if last := len(out) - 1; last >= 0 && s.given != "" && out[last].given == s.given {
			out[last].body = joinGiven(slices.Concat(out[last].body, s.body))
			continue
		}
		out = append(out, s)
	}
	return out
}

// lines prints statements.
func lines(body []statement) []string {
	var out []string
	for _, s := range body {
		out = append(out, strings.Join(append(slices.Clone(s.targets), s.text), " = "))
		out = append(out, view.Indent(layout.Step, lines(s.body))...)
	}
	return out
}

// dropUnused removes assignments to names that no statement reads, such as the size of a dim that stands alone. What is
// computed has no effect, unless a function of _r refuses it: then only the name is dropped, where that is possible.
func dropUnused(body []statement) []statement { return dropUnread(body, code.mayRefuse) }

// dropUnread removes assignments to names that no statement reads, unless the value has an effect.
func dropUnread(body []statement, hasEffect func(code) bool) []statement {
	for {
		read := map[string]bool{}
		noteReads(body, read)
		kept, dropped := withoutUnread(body, read, hasEffect)
		if !dropped {
			return kept
		}
		body = kept
	}
}

func noteReads(body []statement, read map[string]bool) {
	for _, s := range body {
		for _, name := range s.reads {
			read[name] = true
		}
		noteReads(s.body, read)
	}
}

// withoutUnread drops the targets that nothing reads, the statements that then have no purpose, and what becomes empty.
func withoutUnread(body []statement, read map[string]bool, hasEffect func(code) bool) (kept []statement, dropped bool) {
	for _, s := range body {
		inner, less := withoutUnread(s.body, read, hasEffect)
		targets := slices.DeleteFunc(slices.Clone(s.targets), func(name string) bool { return !read[name] })
		switch {
		case len(s.body) > 0 && len(inner) == 0, len(s.targets) > 0 && len(targets) == 0 && !hasEffect(s.code):
			dropped = true
			continue
		case len(targets) > 0 || s.isRefusal():
			s.targets = targets
		}
		s.body, dropped = inner, dropped || less
		kept = append(kept, s)
	}
	return kept, dropped
}

// mayRefuse says whether the piece calls a function of _rules or _arithmetic.
func (c code) mayRefuse() bool {
	return ofRules.MatchString(c.text) || ofArithmetic.MatchString(c.text)
}

// isRefusal says whether the piece is such a call.
func (c code) isRefusal() bool {
	return strings.HasPrefix(c.text, "_r.") || strings.HasPrefix(c.text, "_a.")
}

// ofRules and ofArithmetic match calls of functions of these modules.
var (
	ofRules      = regexp.MustCompile(`\b_r\.`)
	ofArithmetic = regexp.MustCompile(`\b_a\.`)
)

// calls says whether some statement calls a function of a module.
func calls(of *regexp.Regexp, body []statement) bool {
	return slices.ContainsFunc(body, func(s statement) bool { return of.MatchString(s.text) || calls(of, s.body) })
}
