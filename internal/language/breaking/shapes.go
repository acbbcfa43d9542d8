package breaking

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/expr"
)

// sizes writes expressions of an op so that two which mean the same are the same text: sizes are named by the order in which the
// arguments mention them, and dtype variables by an argument that has them, as no call could tell what they are called. Lets stand
// for their expressions.
type sizes struct {
	op     *opdef.Op
	names  map[string]string
	shapes map[string]string
	count  int // of sizes that have names
}

func sizesOf(op *opdef.Op) *sizes {
	s := &sizes{op: op, names: map[string]string{}, shapes: map[string]string{}}
	for _, a := range slices.Concat(op.Inputs, op.Outputs) {
		var dims []string
		for _, d := range a.Type.Dims {
			switch {
			case d.Star:
				dims = append(dims, "*")
			case d.Ellipsis:
				dims = append(dims, "...")
			default:
				s.nameSizes(d.Expr)
				dims = append(dims, s.text(d.Expr))
			}
		}
		s.shapes[a.Name] = strings.Join(dims, ",")
		if v := a.Type.Var; v != "" && s.names[v] == "" {
			s.names[v] = "dtype of " + a.Name
		}
	}
	return s
}

// nameSizes names what an expression in a type reads and nothing else explains.
func (s *sizes) nameSizes(e *expr.Expr) {
	e.Walk(func(n *expr.Expr) {
		if n.Name == "" || s.names[n.Name] != "" || s.known(n.Name) {
			return
		}
		if i := s.let(n.Name); i >= 0 {
			s.nameSizes(s.op.Lets[i].Expr)
			return
		}
		s.count++
		s.names[n.Name] = fmt.Sprintf("$%d", s.count)
	})
}

// known says whether a name is that of an argument, which callers know.
func (s *sizes) known(name string) bool {
	return s.op.InputIndex(name) >= 0 || slices.Contains(s.op.AttrNames(), name)
}

func (s *sizes) let(name string) int {
	return slices.IndexFunc(s.op.Lets, func(l opdef.Let) bool { return l.Name == name })
}

// text is what an expression means; it is empty where there is none.
func (s *sizes) text(e *expr.Expr) string {
	if e == nil {
		return ""
	}
	if i := s.let(e.Name); i >= 0 && e.Op == expr.OpSymbol {
		return s.text(s.op.Lets[i].Expr)
	}
	args := make([]string, len(e.Args))
	for i, arg := range e.Args {
		args[i] = s.text(arg)
	}
	if slices.Contains(commutative, e.Op) {
		slices.Sort(args)
	}
	return fmt.Sprintf("%s(%d %g %s %q %s)", e.Op, e.Value, e.Float, cmp.Or(s.names[e.Name], e.Name), e.Word, strings.Join(args, ","))
}

// commutative are the operators whose operands may change places.
var commutative = []expr.Op{expr.OpAdd, expr.OpMul, expr.OpMin, expr.OpMax, expr.OpEq, expr.OpNe, expr.OpAnd, expr.OpOr}

// requirements compares conditions, each part of a conjunction by itself.
func (c *comparison) requirements(old, op *opdef.Op) {
	kept, read := map[string]bool{}, map[string]bool{}
	for _, was := range expr.Conjuncts(slices.Concat(old.Requires, old.Fits())) {
		kept[c.before.text(was)], read[was.Text] = true, true
	}
	for _, is := range expr.Conjuncts(slices.Concat(op.Requires, op.Fits())) {
		switch {
		case kept[c.after.text(is)]:
		case read[is.Text]:
			c.breaks("the condition %s means something else", is.Text)
		default:
			c.breaks("calls have to keep %s", is.Text)
		}
	}
}
