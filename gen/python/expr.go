package python

import (
	"github.com/opcast/opcast/gen/view"
	"github.com/opcast/opcast/internal/opdef/expr"
)

// exprPrinter prints Python; arithmetic goes through _rules, where what has no value in 64 bits becomes our error.
func exprPrinter(name func(string) string) view.Printer {
	return view.Printer{
		Name: name,
		Call: map[expr.Op]string{
			expr.OpFloorDiv: "_r.floordiv(op, %s, %s)", expr.OpMod: "_r.mod(op, %s, %s)",
			expr.OpCeilDiv: "_r.ceildiv(op, %s, %s)", expr.OpPow: "_r.power(op, %s, %s)", expr.OpMin: "min(%s, %s)",
			expr.OpMax: "max(%s, %s)", expr.OpNot: "not (%s)",
		},
		Infix:  view.AsWritten(view.AsWritten(map[expr.Op]string{expr.OpAnd: "and", expr.OpOr: "or"}, view.Comparisons...), view.Arithmetic...),
		Sum:    "_r.total(op, %s)",
		Length: "len(%s)",
		Fit:    "_r.fit(op, %s)",
	}
}
