package view

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/opcast/opcast/internal/language/opdef/expr"
)

// Printer writes an expression in one target language.
type Printer struct {
	// Name maps a symbol to a variable of the target.
	Name func(string) string
	// List maps the name of a list; nil for what Name does.
	List func(string) string
	// Call formats the functions that the language lacks; Infix writes the operators that it has.
	Call  map[expr.Op]string
	Infix map[expr.Op]string
	// Sum and Length format sum and len over an int list attr, Aligned the alignment test of a pointer.
	Sum, Length, Aligned string
	// If formats a choice: the condition, and what it chooses between.
	If string
	// Word prints a string, or the name of a dtype, that the attribute or variable of the given name is compared with.
	Word func(name, word string) string
	// Fit formats the check that the value of an operator fits 64 bits; empty where there is none, or a function does it.
	Fit string
	// Real says that numbers are floating point: then parts without names are not computed here. Number formats the conversion
	// of an integer variable then; empty where it needs none.
	Real   bool
	Number string
	// Logic prints the conditions of choices where Real is set; nil for this printer itself.
	Logic *Printer
}

// Print writes the expression. Precedence is left to parentheses: every compound operand gets a pair.
func (p Printer) Print(e *expr.Expr) string {
	text := p.compute(e)
	if p.fits(e) {
		return fmt.Sprintf(p.Fit, text)
	}
	return text
}

// fits says whether an operator's value is checked.
func (p Printer) fits(e *expr.Expr) bool {
	_, constant := p.constant(e)
	_, infix := p.Infix[e.Op]
	return p.Fit != "" && !constant && (e.Op == expr.OpNeg && e.Args[0].Op != expr.OpFloat || infix && slices.Contains(Arithmetic, e.Op))
}

// constant is the value of a compound part without names.
func (p Printer) constant(e *expr.Expr) (int64, bool) {
	if p.Real || len(e.Args) == 0 || len(e.Symbols()) > 0 {
		return 0, false
	}
	n, err := e.Eval(nil)
	return n, err == nil && n != math.MinInt64 // which has no literal in C++
}

func (p Printer) compute(e *expr.Expr) string {
	if n, constant := p.constant(e); constant {
		return strconv.FormatInt(n, 10)
	}
	switch e.Op {
	case expr.OpConst:
		if p.Real {
			return Decimal(strconv.FormatInt(e.Value, 10))
		}
		return strconv.FormatInt(e.Value, 10)
	case expr.OpFloat:
		return Decimal(strconv.FormatFloat(e.Float, 'g', -1, 64))
	case expr.OpSymbol:
		return p.number(p.Name(e.Name))
	case expr.OpIndex:
		return p.number(fmt.Sprintf("%s[%d]", p.Name(e.Name), e.Args[0].Value))
	case expr.OpNeg, expr.OpNot:
		if e.Args[0].Op == expr.OpFloat {
			return "-" + p.Print(e.Args[0])
		}
		if format, ok := p.Call[e.Op]; ok {
			return fmt.Sprintf(format, p.Print(e.Args[0]))
		}
		return "-" + p.Operand(e.Args[0])
	case expr.OpSum:
		return p.number(fmt.Sprintf(p.Sum, p.list(e.Name)))
	case expr.OpLen:
		return p.number(fmt.Sprintf(p.Length, p.list(e.Name)))
	case expr.OpIf:
		return fmt.Sprintf(p.If, p.logic().Print(e.Args[0]), p.Operand(e.Args[1]), p.Operand(e.Args[2]))
	case expr.OpEq, expr.OpNe:
		if a, b := e.Args[0], e.Args[1]; a.Op == expr.OpText || b.Op == expr.OpText {
			return p.word(a, b) + " " + p.Infix[e.Op] + " " + p.word(b, a)
		}
	case expr.OpAligned:
		return fmt.Sprintf(p.Aligned, p.Name(e.Name), p.Print(e.Args[0]))
	}
	if format, ok := p.Call[e.Op]; ok {
		return fold(e.Args, p.Print, func(a, b string) string { return fmt.Sprintf(format, a, b) })
	}
	sign := p.Infix[e.Op]
	return fold(e.Args, p.Operand, func(a, b string) string { return a + " " + sign + " " + b })
}

// word prints one side of a comparison of words.
func (p Printer) word(e, other *expr.Expr) string {
	if e.Op == expr.OpText {
		return p.Word(other.Name, e.Word)
	}
	return p.Name(e.Name)
}

// logic prints a condition in an expression of any kind of number: its own numbers are integers.
func (p Printer) logic() Printer {
	if p.Logic != nil {
		return *p.Logic
	}
	return p
}

// Decimal makes a number's text that of a number of floating point: 1 becomes 1.0.
func Decimal(number string) string {
	if strings.ContainsAny(number, ".e") {
		return number
	}
	return number + ".0"
}

// list is the variable of a list.
func (p Printer) list(name string) string {
	if p.List != nil {
		return p.List(name)
	}
	return p.Name(name)
}

// number converts an integer to the numbers of the expression.
func (p Printer) number(value string) string {
	if p.Number == "" {
		return value
	}
	return fmt.Sprintf(p.Number, value)
}

func fold(args []*expr.Expr, print func(*expr.Expr) string, join func(a, b string) string) string {
	out := print(args[0])
	for _, a := range args[1:] {
		out = join(out, print(a))
	}
	return out
}

// Operand writes the expression as part of a larger one, in parentheses if it needs them.
func (p Printer) Operand(e *expr.Expr) string {
	s := p.Print(e)
	_, infix := p.Infix[e.Op]
	_, function := p.Call[e.Op]
	if _, constant := p.constant(e); !constant && !p.fits(e) && (infix || e.Op == expr.OpNeg && !function) {
		return "(" + s + ")"
	}
	return s
}

var (
	// Arithmetic lists the operators whose values may not fit 64 bits.
	Arithmetic = []expr.Op{expr.OpAdd, expr.OpSub, expr.OpMul}
	// Comparisons lists the operators that compare two numbers.
	Comparisons = []expr.Op{expr.OpEq, expr.OpNe, expr.OpLt, expr.OpLe, expr.OpGt, expr.OpGe}
)

// AsWritten adds operators to a map of infix ones: those that the language writes as definitions do.
func AsWritten(to map[expr.Op]string, more ...expr.Op) map[expr.Op]string {
	for _, op := range more {
		to[op] = string(op)
	}
	return to
}
