package gen

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/opcast/opcast/internal/dtype"
	"github.com/opcast/opcast/internal/opdef/expr"
)

// printer writes an expression in one target language.
type printer struct {
	// name maps a symbol to a variable of the target.
	name func(string) string
	// call formats the functions that the language lacks; infix formats those that it has.
	call  map[expr.Op]string
	infix map[expr.Op]string
	// list formats sum and len over an int list attr, aligned the alignment test of a pointer.
	sum, length, aligned string
	// fit formats the check that the value of an operator fits 64 bits; empty where there is none, or a function does it.
	fit string
	// real says that numbers are floating point: then parts without names are not computed here.
	real bool
}

// Precedence is left to parentheses: every compound operand gets a pair.
func (p printer) print(e *expr.Expr) string {
	text := p.compute(e)
	if p.fits(e) {
		return fmt.Sprintf(p.fit, text)
	}
	return text
}

// fits says whether an operator's value is checked.
func (p printer) fits(e *expr.Expr) bool {
	_, constant := p.constant(e)
	_, infix := p.infix[e.Op]
	return p.fit != "" && !constant && (e.Op == expr.OpNeg || infix && slices.Contains(arithmetic, e.Op))
}

// constant is the value of a compound part without names.
func (p printer) constant(e *expr.Expr) (int64, bool) {
	if p.real || len(e.Args) == 0 || len(e.Symbols()) > 0 {
		return 0, false
	}
	n, err := e.Eval(nil)
	return n, err == nil && n != math.MinInt64 // which has no literal in C++
}

func (p printer) compute(e *expr.Expr) string {
	if n, constant := p.constant(e); constant {
		return strconv.FormatInt(n, 10)
	}
	switch e.Op {
	case expr.OpConst:
		return strconv.FormatInt(e.Value, 10)
	case expr.OpFloat:
		return strconv.FormatFloat(e.Float, 'g', -1, 64)
	case expr.OpSymbol:
		return p.name(e.Name)
	case expr.OpIndex:
		return fmt.Sprintf("%s[%s]", p.name(e.Name), p.print(e.Args[0]))
	case expr.OpNeg, expr.OpNot:
		if format, ok := p.call[e.Op]; ok {
			return fmt.Sprintf(format, p.print(e.Args[0]))
		}
		return "-" + p.operand(e.Args[0])
	case expr.OpSum:
		return fmt.Sprintf(p.sum, p.name(e.Name))
	case expr.OpLen:
		return fmt.Sprintf(p.length, p.name(e.Name))
	case expr.OpAligned:
		return fmt.Sprintf(p.aligned, p.name(e.Name), p.print(e.Args[0]))
	}
	if format, ok := p.call[e.Op]; ok {
		return fold(e.Args, p.print, func(a, b string) string { return fmt.Sprintf(format, a, b) })
	}
	sign := p.infix[e.Op]
	return fold(e.Args, p.operand, func(a, b string) string { return a + " " + sign + " " + b })
}

func fold(args []*expr.Expr, print func(*expr.Expr) string, join func(a, b string) string) string {
	out := print(args[0])
	for _, a := range args[1:] {
		out = join(out, print(a))
	}
	return out
}

func (p printer) operand(e *expr.Expr) string {
	s := p.print(e)
	_, infix := p.infix[e.Op]
	_, function := p.call[e.Op]
	if _, constant := p.constant(e); !constant && !p.fits(e) && (infix || e.Op == expr.OpNeg && !function) {
		return "(" + s + ")"
	}
	return s
}

var (
	arithmetic  = []expr.Op{expr.OpAdd, expr.OpSub, expr.OpMul}
	comparisons = []expr.Op{expr.OpEq, expr.OpNe, expr.OpLt, expr.OpLe, expr.OpGt, expr.OpGe}
)

// infix adds operators that are written as in definitions.
func infix(to map[expr.Op]string, more ...expr.Op) map[expr.Op]string {
	for _, op := range more {
		to[op] = string(op)
	}
	return to
}

// cppExpr prints integer expressions; sizes are int64_t. All arithmetic is checked: see opcast/ints.h.
func cppExpr(name func(string) string) printer {
	return printer{
		name: name,
		call: map[expr.Op]string{
			expr.OpFloorDiv: "opcast::FloorDiv(%s, %s)", expr.OpMod: "opcast::Mod(%s, %s)",
			expr.OpCeilDiv: "opcast::CeilDiv(%s, %s)", expr.OpPow: "opcast::Pow(%s, %s)", expr.OpAdd: "opcast::Add(%s, %s)",
			expr.OpSub: "opcast::Sub(%s, %s)", expr.OpMul: "opcast::Mul(%s, %s)", expr.OpNeg: "opcast::Neg(%s)",
			expr.OpMin: "std::min<int64_t>(%s, %s)", expr.OpMax: "std::max<int64_t>(%s, %s)", expr.OpNot: "!(%s)",
		},
		infix:   infix(map[expr.Op]string{expr.OpAnd: "&&", expr.OpOr: "||"}, comparisons...),
		sum:     "opcast::Sum(%s)",
		length:  "opcast::Len(%s)",
		aligned: "reinterpret_cast<uintptr_t>(%s) %% (%s) == 0",
	}
}

// cppFloat prints the default of a float attr; sizes are converted first, so that "/" and "**" are those of doubles.
func cppFloat(name func(string) string) printer {
	p := cppExpr(func(s string) string { return "static_cast<double>(" + name(s) + ")" })
	p.real = true
	delete(p.call, expr.OpNeg)
	for _, op := range arithmetic {
		delete(p.call, op)
	}
	infix(p.infix, arithmetic...)
	p.call[expr.OpPow] = "std::pow(%s, %s)"
	p.call[expr.OpFloorDiv] = "std::floor((%s) / (%s))"
	return p
}

// pyExpr prints Python; arithmetic goes through _rules, where what has no value in 64 bits becomes our error.
func pyExpr(name func(string) string) printer {
	return printer{
		name: name,
		call: map[expr.Op]string{
			expr.OpFloorDiv: "_r.floordiv(op, %s, %s)", expr.OpMod: "_r.mod(op, %s, %s)",
			expr.OpCeilDiv: "_r.ceildiv(op, %s, %s)", expr.OpPow: "_r.power(op, %s, %s)", expr.OpMin: "min(%s, %s)",
			expr.OpMax: "max(%s, %s)", expr.OpNot: "not (%s)",
		},
		infix:  infix(infix(map[expr.Op]string{expr.OpAnd: "and", expr.OpOr: "or"}, comparisons...), arithmetic...),
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
