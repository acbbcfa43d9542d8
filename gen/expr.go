package gen

import (
	"fmt"
	"math"
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
}

// Precedence is left to parentheses: every compound operand gets a pair.
func (p printer) print(e *opdef.Expr) string {
	switch e.Op {
	case opdef.OpConst:
		return strconv.FormatInt(e.Value, 10)
	case opdef.OpFloat:
		return strconv.FormatFloat(e.Float, 'g', -1, 64)
	case opdef.OpSymbol:
		return p.name(e.Name)
	case opdef.OpIndex:
		return fmt.Sprintf("%s[%s]", p.name(e.Name), p.print(e.Args[0]))
	case opdef.OpNeg:
		return "-" + p.operand(e.Args[0])
	case opdef.OpNot:
		return fmt.Sprintf(p.call[e.Op], p.print(e.Args[0]))
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
	if _, infix := p.infix[e.Op]; infix || e.Op == opdef.OpNeg {
		return "(" + s + ")"
	}
	return s
}

var commonInfix = []opdef.ExprOp{
	opdef.OpAdd, opdef.OpSub, opdef.OpMul, opdef.OpEq, opdef.OpNe, opdef.OpLt, opdef.OpLe, opdef.OpGt, opdef.OpGe,
}

func infix(extra map[opdef.ExprOp]string) map[opdef.ExprOp]string {
	for _, op := range commonInfix {
		extra[op] = string(op)
	}
	return extra
}

// cppExpr prints integer expressions; sizes are int64_t.
func cppExpr(name func(string) string) printer {
	return printer{
		name: name,
		call: map[opdef.ExprOp]string{
			opdef.OpFloorDiv: "opcast::FloorDiv(%s, %s)", opdef.OpMod: "opcast::Mod(%s, %s)",
			opdef.OpCeilDiv: "opcast::CeilDiv(%s, %s)", opdef.OpPow: "opcast::Pow(%s, %s)",
			opdef.OpMin: "std::min<int64_t>(%s, %s)", opdef.OpMax: "std::max<int64_t>(%s, %s)", opdef.OpNot: "!(%s)",
		},
		infix:   infix(map[opdef.ExprOp]string{opdef.OpAnd: "&&", opdef.OpOr: "||"}),
		sum:     "opcast::Sum(%s)",
		length:  "opcast::Len(%s)",
		aligned: "reinterpret_cast<uintptr_t>(%s) %% (%s) == 0",
	}
}

// cppFloat prints the default of a float attr; sizes are converted first, so that "/" and "**" are those of doubles.
func cppFloat(name func(string) string) printer {
	p := cppExpr(func(s string) string { return "static_cast<double>(" + name(s) + ")" })
	p.call[opdef.OpPow] = "std::pow(%s, %s)"
	p.call[opdef.OpFloorDiv] = "std::floor((%s) / (%s))"
	return p
}

// pyExpr prints Python; division goes through _rules, where a zero divisor becomes our error.
func pyExpr(name func(string) string) printer {
	return printer{
		name: name,
		call: map[opdef.ExprOp]string{
			opdef.OpFloorDiv: "_r.floordiv(op, %s, %s)", opdef.OpMod: "_r.mod(op, %s, %s)",
			opdef.OpCeilDiv: "-_r.floordiv(op, -(%s), %s)", opdef.OpMin: "min(%s, %s)", opdef.OpMax: "max(%s, %s)",
			opdef.OpNot: "not (%s)",
		},
		infix:  infix(map[opdef.ExprOp]string{opdef.OpAnd: "and", opdef.OpOr: "or", opdef.OpPow: "**"}),
		sum:    "sum(%s)",
		length: "len(%s)",
	}
}

// cppWords may not name variables of generated C++: keywords, and the locals of the generated functions.
var cppWords = " alignas alignof and_eq asm auto bitand bitor bool case catch char class compl const constexpr " +
	"const_cast decltype default delete do double dynamic_cast enum explicit export extern float friend goto inline int " +
	"long mutable namespace new noexcept not_eq nullptr operator or_eq private protected public register reinterpret_cast " +
	"short signed sizeof static static_assert static_cast struct switch template this thread_local throw true false try " +
	"typedef typeid typename union unsigned using virtual void volatile wchar_t xor xor_eq " +
	"call argv count values batch args launch request opcast ops std kVariants kKernels kArrays kAttrs kScratch int64_t errno "

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

func cppType(short string) string {
	d, _ := dtype.Lookup(short)
	return d.CPP
}
