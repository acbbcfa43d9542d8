package cpp

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/opcast/opcast/gen/internal/view"
	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/opdef/expr"
)

// exprPrinter prints integer expressions; sizes are int64_t. All arithmetic is checked: see opcast/ints.h.
func exprPrinter(name func(string) string) view.Printer {
	return view.Printer{
		Name: name,
		Call: map[expr.Op]string{
			expr.OpFloorDiv: "opcast::FloorDiv(%s, %s)", expr.OpMod: "opcast::Mod(%s, %s)",
			expr.OpCeilDiv: "opcast::CeilDiv(%s, %s)", expr.OpPow: "opcast::Pow(%s, %s)", expr.OpAdd: "opcast::Add(%s, %s)",
			expr.OpSub: "opcast::Sub(%s, %s)", expr.OpMul: "opcast::Mul(%s, %s)", expr.OpNeg: "opcast::Neg(%s)",
			expr.OpMin: "std::min<int64_t>(%s, %s)", expr.OpMax: "std::max<int64_t>(%s, %s)", expr.OpNot: "!(%s)",
		},
		Infix:   view.AsWritten(map[expr.Op]string{expr.OpAnd: "&&", expr.OpOr: "||"}, view.Comparisons...),
		Sum:     "opcast::Sum(%s)",
		Length:  "opcast::Len(%s)",
		If:      "(%s ? %s : %s)",
		Aligned: "opcast::Address(%s) %% (%s) == 0",
	}
}

// floatPrinter prints the default of a float attr; sizes are converted first, so that "/" and "**" are those of doubles.
func floatPrinter(name func(string) string) view.Printer {
	p := exprPrinter(name)
	logic := p
	p.Logic = &logic
	p.Infix = maps.Clone(p.Infix)
	p.Real, p.Number = true, "static_cast<double>(%s)"
	p.Call = maps.Clone(p.Call)
	delete(p.Call, expr.OpNeg)
	for _, op := range view.Arithmetic {
		delete(p.Call, op)
	}
	view.AsWritten(p.Infix, view.Arithmetic...)
	p.Call[expr.OpPow] = "std::pow(%s, %s)"
	p.Call[expr.OpFloorDiv] = "std::floor((%s) / (%s))"
	return p
}

// printer prints expressions of the op with the given names of variables.
func (v *opView) printer(name func(string) string) view.Printer {
	p := exprPrinter(name)
	p.Word = v.word
	p.List = v.list(name)
	return p
}

// realPrinter prints them as numbers of floating point.
func (v *opView) realPrinter(name func(string) string) view.Printer {
	p := floatPrinter(name)
	p.Logic.Word = v.word
	p.List = v.list(name)
	p.Logic.List = p.List
	return p
}

// list names lists: without the number of an array.
func (v *opView) list(name func(string) string) func(string) string {
	return func(s string) string { return strings.TrimSuffix(name(s), "[e]") }
}

// word is what an attribute or a dtype variable is compared with: an enumerator, or a string.
func (v *opView) word(name, word string) string {
	for i := range v.Attrs {
		switch a := &v.Attrs[i]; {
		case a.Name != name:
		case len(a.OneOf) > 0:
			return v.attrType(a) + "::k" + view.Pascal(word)
		default:
			return stringLiteral(word)
		}
	}
	return enumerator(word)
}

// variable is the C++ variable for a name of the definition in a generated function. No name of a definition ends with an
// underscore, and no other local does, so that neither can hide the other. Fields of structs have the names themselves.
func variable(name string) string { return name + "_" }

// unlike makes the sides of comparisons differ, where both are one name: compilers warn of "N == N".
func unlike(e *expr.Expr) *expr.Expr {
	copied := *e
	copied.Args = make([]*expr.Expr, len(e.Args))
	for i, arg := range e.Args {
		copied.Args[i] = unlike(arg)
	}
	if slices.Contains(view.Comparisons, e.Op) && len(e.Args[0].Args) < 2 && e.Args[0].Text == e.Args[1].Text {
		copied.Args[1] = &expr.Expr{Op: expr.OpAdd, Args: []*expr.Expr{e.Args[1], {Op: expr.OpConst}}}
	}
	return &copied
}

// intLiteral is an integer literal; the smallest one has no literal of its own.
func intLiteral(n int64) string {
	if n == math.MinInt64 {
		return "INT64_MIN"
	}
	return strconv.FormatInt(n, 10)
}

// numeral is an integer literal for an integer that is written out.
func numeral(text string) string {
	if text == strconv.Itoa(math.MinInt64) {
		return intLiteral(math.MinInt64)
	}
	return text
}

// stringLiteral is a string literal. Octal escapes end after three digits, whatever follows.
func stringLiteral(s string) string {
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

// enumerator is the DType enumerator of a short dtype name.
func enumerator(short string) string {
	return "opcast::DType::k" + strings.ToUpper(short[:1]) + short[1:]
}

// enumerators are the enumerators of dtype names, with commas between.
func enumerators(short []string) string {
	var out []string
	for _, s := range short {
		out = append(out, enumerator(s))
	}
	return strings.Join(out, ", ")
}

func typeName(short string) string {
	d, _ := dtype.Lookup(short)
	return d.CPP
}
