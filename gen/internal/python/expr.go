package python

import (
	"github.com/opcast/opcast/gen/internal/python/layout"
	"github.com/opcast/opcast/gen/internal/view"
	"github.com/opcast/opcast/internal/language/opdef/expr"
	"github.com/opcast/opcast/internal/language/rule"
)

// exprPrinter prints Python; arithmetic goes through _arithmetic, where what has no value in 64 bits becomes our error.
func exprPrinter(name func(string) string) view.Printer {
	return view.Printer{
		Name: name,
		Call: map[expr.Op]string{
			expr.OpFloorDiv: "_a.floordiv(op, %s, %s)", expr.OpMod: "_a.mod(op, %s, %s)",
			expr.OpCeilDiv: "_a.ceildiv(op, %s, %s)", expr.OpPow: "_a.power(op, %s, %s)", expr.OpMin: "min(%s, %s)",
			expr.OpMax: "max(%s, %s)", expr.OpNot: "not (%s)",
		},
		Infix:  view.AsWritten(view.AsWritten(map[expr.Op]string{expr.OpAnd: "and", expr.OpOr: "or"}, view.Comparisons...), view.Arithmetic...),
		Sum:    "_a.total(op, %s)",
		Length: "len(%s)",
		If:     "(%[2]s if %[1]s else %[3]s)",
		Fit:    "_a.fit(op, %s)",
	}
}

// wordOf prints what an attribute or a dtype variable of an op is compared with: a string, or the long name of a dtype.
func wordOf(v *view.Compiled) func(name, word string) string {
	return func(name, word string) string {
		if _, isVar := v.Program.DTypeOf[name]; isVar {
			word = rule.Long([]string{word})[0]
		}
		return layout.Quote(word)
	}
}
