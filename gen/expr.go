package gen

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/opcast/opcast/internal/dtype"
	"github.com/opcast/opcast/internal/opdef"
)

// printer writes an expression in one target language.
type printer struct {
	// name maps a symbol to a variable of the target.
	name func(string) string
	// call formats the functions that the language lacks; infix formats those that it has.
	call  map[opdef.ExprOp]string
	infix map[opdef.ExprOp]string
	// list formats sum and len over an int list attr, aligned the alignment test of a pointer.
	sum, length, aligned string
	// fit formats the check that the value of an operator fits 64 bits; empty where there is none, or a function does it.
	fit string
	// real says that numbers are floating point: then parts without names are not computed here.
	real bool
}

// Precedence is left to parentheses: every compound operand gets a pair.
func (p printer) print(e *opdef.Expr) string {
	text := p.compute(e)
	if p.fits(e) {
		return fmt.Sprintf(p.fit, text)
	}
	return text
}

// fits says whether an operator's value is checked.
func (p printer) fits(e *opdef.Expr) bool {
	_, constant := p.constant(e)
	_, infix := p.infix[e.Op]
	return p.fit != "" && !constant && (e.Op == opdef.OpNeg || infix && slices.Contains(arithmetic, e.Op))
}

// constant is the value of a compound part without names.
func (p printer) constant(e *opdef.Expr) (int64, bool) {
	if p.real || len(e.Args) == 0 || len(e.Symbols()) > 0 {
		return 0, false
	}
	n, err := e.Eval(nil)
	return n, err == nil && n != math.MinInt64 // which has no literal in C++
}

func (p printer) compute(e *opdef.Expr) string {
	if n, constant := p.constant(e); constant {
		return strconv.FormatInt(n, 10)
	}
	switch e.Op {
	case opdef.OpConst:
		return strconv.FormatInt(e.Value, 10)
	case opdef.OpFloat:
		return strconv.FormatFloat(e.Float, 'g', -1, 64)
	case opdef.OpSymbol:
		return p.name(e.Name)
	case opdef.OpIndex:
		return fmt.Sprintf("%s[%s]", p.name(e.Name), p.print(e.Args[0]))
	case opdef.OpNeg, opdef.OpNot:
		if format, ok := p.call[e.Op]; ok {
			return fmt.Sprintf(format, p.print(e.Args[0]))
		}
		return "-" + p.operand(e.Args[0])
	case opdef.OpSum:
		return fmt.Sprintf(p.sum, p.name(e.Name))
	case opdef.OpLen:
		return fmt.Sprintf(p.length, p.name(e.Name))
	case opdef.OpAligned:
		return fmt.Sprintf(p.aligned, p.name(e.Name), p.print(e.Args[0]))
	}
	if format, ok := p.call[e.Op]; ok {
		return fold(e.Args, p.print, func(a, b string) string { return fmt.Sprintf(format, a, b) })
	}
	sign := p.infix[e.Op]
	return fold(e.Args, p.operand, func(a, b string) string { return a + " " + sign + " " + b })
}

func fold(args []*opdef.Expr, print func(*opdef.Expr) string, join func(a, b string) string) string {
	out := print(args[0])
	for _, a := range args[1:] {
		out = join(out, print(a))
	}
	return out
}

func (p printer) operand(e *opdef.Expr) string {
	s := p.print(e)
	_, infix := p.infix[e.Op]
	_, function := p.call[e.Op]
	if _, constant := p.constant(e); !constant && !p.fits(e) && (infix || e.Op == opdef.OpNeg && !function) {
		return "(" + s + ")"
	}
	return s
}

var (
	arithmetic  = []opdef.ExprOp{opdef.OpAdd, opdef.OpSub, opdef.OpMul}
	comparisons = []opdef.ExprOp{opdef.OpEq, opdef.OpNe, opdef.OpLt, opdef.OpLe, opdef.OpGt, opdef.OpGe}
)

// infix adds operators that are written as in definitions.
func infix(to map[opdef.ExprOp]string, more ...opdef.ExprOp) map[opdef.ExprOp]string {
	for _, op := range more {
		to[op] = string(op)
	}
	return to
}

// cppExpr prints integer expressions; sizes are int64_t. All arithmetic is checked: see opcast/ints.h.
func cppExpr(name func(string) string) printer {
	return printer{
		name: name,
		call: map[opdef.ExprOp]string{
			opdef.OpFloorDiv: "opcast::FloorDiv(%s, %s)", opdef.OpMod: "opcast::Mod(%s, %s)",
			opdef.OpCeilDiv: "opcast::CeilDiv(%s, %s)", opdef.OpPow: "opcast::Pow(%s, %s)", opdef.OpAdd: "opcast::Add(%s, %s)",
			opdef.OpSub: "opcast::Sub(%s, %s)", opdef.OpMul: "opcast::Mul(%s, %s)", opdef.OpNeg: "opcast::Neg(%s)",
			opdef.OpMin: "std::min<int64_t>(%s, %s)", opdef.OpMax: "std::max<int64_t>(%s, %s)", opdef.OpNot: "!(%s)",
		},
		infix:   infix(map[opdef.ExprOp]string{opdef.OpAnd: "&&", opdef.OpOr: "||"}, comparisons...),
		sum:     "opcast::Sum(%s)",
		length:  "opcast::Len(%s)",
		aligned: "reinterpret_cast<uintptr_t>(%s) %% (%s) == 0",
	}
}

// cppFloat prints the default of a float attr; sizes are converted first, so that "/" and "**" are those of doubles.
func cppFloat(name func(string) string) printer {
	p := cppExpr(func(s string) string { return "static_cast<double>(" + name(s) + ")" })
	p.real = true
	delete(p.call, opdef.OpNeg)
	for _, op := range arithmetic {
		delete(p.call, op)
	}
	infix(p.infix, arithmetic...)
	p.call[opdef.OpPow] = "std::pow(%s, %s)"
	p.call[opdef.OpFloorDiv] = "std::floor((%s) / (%s))"
	return p
}

// pyExpr prints Python; arithmetic goes through _rules, where what has no value in 64 bits becomes our error.
func pyExpr(name func(string) string) printer {
	return printer{
		name: name,
		call: map[opdef.ExprOp]string{
			opdef.OpFloorDiv: "_r.floordiv(op, %s, %s)", opdef.OpMod: "_r.mod(op, %s, %s)",
			opdef.OpCeilDiv: "_r.ceildiv(op, %s, %s)", opdef.OpPow: "_r.power(op, %s, %s)", opdef.OpMin: "min(%s, %s)",
			opdef.OpMax: "max(%s, %s)", opdef.OpNot: "not (%s)",
		},
		infix:  infix(infix(map[opdef.ExprOp]string{opdef.OpAnd: "and", opdef.OpOr: "or"}, comparisons...), arithmetic...),
		sum:    "_r.total(op, %s)",
		length: "len(%s)",
		fit:    "_r.fit(op, %s)",
	}
}

// cppWords may not name variables of generated C++: keywords, and the locals of the generated functions.
var cppWords = " alignas alignof and_eq asm auto bitand bitor bool case catch char class compl const constexpr " +
	"const_cast decltype default delete do double dynamic_cast enum explicit export extern float friend goto inline int " +
	"long mutable namespace new noexcept not_eq nullptr operator or_eq private protected public register reinterpret_cast " +
	"short signed sizeof static static_assert static_cast struct switch template this thread_local throw true false try " +
	"typedef typeid typename union unsigned using virtual void volatile wchar_t xor xor_eq " +
	"call argv count values batch args launch request opcast ops std kVariants kArrays kAttrs kScratch int64_t errno "

// cppName is the C++ variable for a name of the definition.
func cppName(s string) string {
	if strings.Contains(cppWords, " "+s+" ") {
		return s + "_"
	}
	return s
}

// cppInt is an integer literal; the smallest one has no literal of its own.
func cppInt(n int64) string {
	if n == math.MinInt64 {
		return "INT64_MIN"
	}
	return strconv.FormatInt(n, 10)
}

// cppString is a string literal. Octal escapes end after three digits, whatever follows.
func cppString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range []byte(s) {
		switch {
		case c == '"' || c == '\\' || c == '?': // "??" begins trigraphs
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c > '~':
			fmt.Fprintf(&b, "\\%03o", c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// cppEnum is the DType enumerator of a short dtype name.
func cppEnum(short string) string {
	return "opcast::DType::k" + strings.ToUpper(short[:1]) + short[1:]
}

// cppEnums are the enumerators of dtype names, with commas between.
func cppEnums(short []string) string {
	var out []string
	for _, s := range short {
		out = append(out, cppEnum(s))
	}
	return strings.Join(out, ", ")
}

func cppType(short string) string {
	d, _ := dtype.Lookup(short)
	return d.CPP
}
