package load

import (
	"slices"

	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/code"
	"github.com/opcast/opcast/internal/language/opdef/expr"
	"github.com/opcast/opcast/internal/language/opdef/tomldoc"
)

// maxChoices bounds the conditions in the dims of an op's inputs: the binding rule is applied to each combination of them.
const maxChoices = 4

// choice is a condition in a dim, and whether it holds.
type choice struct {
	condition *expr.Expr
	holds     bool
}

// choices lists the combinations of the conditions that dims of inputs depend on; without any there is an empty one.
func (c *checker) choices() [][]choice {
	var conditions []*expr.Expr
	for i, arg := range c.op.Inputs {
		for _, d := range arg.Type.Dims {
			if d.Expr == nil {
				continue
			}
			c.expand(d.Expr).Walk(func(n *expr.Expr) {
				same := func(e *expr.Expr) bool { return expr.Equal(e, n.Args[0]) }
				if n.Op == expr.OpIf && !slices.ContainsFunc(conditions, same) {
					conditions = append(conditions, n.Args[0])
				}
			})
		}
		if len(conditions) > maxChoices {
			path := tomldoc.Join(tomldoc.Element("inputs", i), "type")
			c.report(path, code.Unsolvable, "choose by fewer attributes", "the dims of inputs depend on more than %d conditions", maxChoices)
			conditions = conditions[:maxChoices]
			break
		}
	}
	ways := [][]choice{nil}
	for _, condition := range conditions {
		var next [][]choice
		for _, way := range ways {
			for _, holds := range []bool{true, false} {
				next = append(next, append(slices.Clone(way), choice{condition, holds}))
			}
		}
		ways = next
	}
	return slices.DeleteFunc(ways, func(way []choice) bool { return !c.possible(way) })
}

// possible says whether the attributes can have values for which the conditions hold as chosen: layout is not "NHD" and "HND"
// at once, nor neither of them where it has no third value. Attributes with any number of values count as if they could.
func (c *checker) possible(way []choice) bool {
	var names []string
	for _, one := range way {
		names = append(names, one.condition.Symbols()...)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	combinations := 1
	for _, name := range names {
		combinations *= max(1, len(c.fewValues(name)))
		if combinations > maxCombinations {
			return true
		}
	}
	return c.anyValues(way, names, sampleEnv{})
}

// anyValues looks for values of the names, beside those in env, that contradict no choice.
func (c *checker) anyValues(way []choice, names []string, env sampleEnv) bool {
	if len(names) == 0 {
		return !slices.ContainsFunc(way, func(one choice) bool {
			truth := one.condition.EvalCondition(nil, env)
			return truth == expr.KnownTrue && !one.holds || truth == expr.KnownFalse && one.holds
		})
	}
	values := c.fewValues(names[0])
	for _, value := range values {
		env[names[0]] = value
		if c.anyValues(way, names[1:], env) {
			return true
		}
	}
	return len(values) == 0 && c.anyValues(way, names[1:], env)
}

// fewValues are all values that an attribute can have, if its type or its definition lists them.
func (c *checker) fewValues(name string) (values []any) {
	attr := c.names[name].attr
	switch {
	case attr == nil:
	case attr.Type == "bool":
		return []any{false, true}
	case attr.Type == "str":
		for _, word := range attr.OneOf {
			values = append(values, word)
		}
	}
	return values
}

// resolve replaces each part that depends on a condition by the side that is chosen.
func resolve(e *expr.Expr, chosen []choice) *expr.Expr {
	if e.Op == expr.OpIf {
		for _, c := range chosen {
			if c.holds && expr.Equal(c.condition, e.Args[0]) {
				return resolve(e.Args[1], chosen)
			}
		}
		return resolve(e.Args[2], chosen)
	}
	if len(e.Args) == 0 {
		return e
	}
	copied := *e
	copied.Args = make([]*expr.Expr, len(e.Args))
	for i, arg := range e.Args {
		copied.Args[i] = resolve(arg, chosen)
	}
	return &copied
}

// merged are the steps that an input makes possible: those that are the same in every way, and between them those that are
// not, under their conditions.
func merged(ways []*binder, input int) []opdef.Step {
	first := ways[0].steps[input]
	head, tail := len(first), len(first)
	for _, way := range ways[1:] {
		other := way.steps[input]
		head = min(head, common(first, other))
		tail = min(tail, common(reversed(first), reversed(other)))
	}
	shortest := len(first)
	for _, way := range ways {
		shortest = min(shortest, len(way.steps[input]))
	}
	tail = min(tail, shortest-head)
	out := slices.Clone(first[:head])
	var done []int
	for i, way := range ways {
		if slices.Contains(done, i) {
			continue
		}
		middle := way.steps[input][head : len(way.steps[input])-tail]
		var when *expr.Expr
		for j, other := range ways {
			theirs := other.steps[input][head : len(other.steps[input])-tail]
			if len(theirs) == len(middle) && common(middle, theirs) == len(middle) {
				done = append(done, j)
				when = joined(expr.OpOr, when, other.condition())
			}
		}
		for _, s := range middle {
			s.When = when
			out = append(out, s)
		}
	}
	return append(out, first[len(first)-tail:]...)
}

// common counts the steps with which two lists begin alike.
func common(a, b []opdef.Step) int {
	n := 0
	for n < min(len(a), len(b)) && same(a[n], b[n]) {
		n++
	}
	return n
}

func reversed(steps []opdef.Step) []opdef.Step {
	out := slices.Clone(steps)
	slices.Reverse(out)
	return out
}

// same says whether two steps do the same.
func same(s, t opdef.Step) bool {
	return s.Kind == t.Kind && s.Input == t.Input && s.Dim == t.Dim && s.Symbol == t.Symbol && s.Form == t.Form &&
		expr.Equal(s.Expr, t.Expr) && expr.Equal(s.Coef, t.Coef) && expr.Equal(s.Const, t.Const)
}

// condition is the conjunction of what is chosen; nil without any.
func (b *binder) condition() *expr.Expr {
	var all *expr.Expr
	for _, c := range b.chosen {
		one := c.condition
		if !c.holds {
			one = &expr.Expr{Op: expr.OpNot, Args: []*expr.Expr{one}, Text: "not (" + one.Text + ")"}
		}
		all = joined(expr.OpAnd, all, one)
	}
	return all
}

func joined(op expr.Op, a, b *expr.Expr) *expr.Expr {
	if a == nil {
		return b
	}
	return &expr.Expr{Op: op, Args: []*expr.Expr{a, b}, Text: "(" + a.Text + ") " + string(op) + " (" + b.Text + ")"}
}
