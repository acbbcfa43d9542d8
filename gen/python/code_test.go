package python

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDropUnused(t *testing.T) {
	x, w, n, scale := variable("x"), variable("w"), variable("n"), variable("scale")
	dtype, first, last := dtypeOf("x"), shapeOf("x"), shapeOf("w")
	got := lines(dropUnused(slices.Concat(
		set(codef("fw.dtype(%s)", x), variable("T"), dtype),
		block(codef("if %s not in (\"a = b\", \"c\"):", dtype), nil),
		set(codef("fw.shape(%s)", x), first),
		set(codef("tuple(%s[:-1])", first), batch),
		ifGiven(w, slices.Concat(
			set(codef("_r.solve(op, \"w\", %s, 0, 2, 0, \"2*D\")", last), variable("D")),
			set(codef("%s[1]", last), variable("E")),
			set(codef("fw.shape(%s)", w), last),
		)),
		set(codef("%s + 1", variable("E")), variable("F")),
		do("specs: _m.Specs = ((%s,), %s)", variable("F"), variable("T")),
		block(codef("for item in %s:", n), block(codef("if not %s >= 0:", reading("item")), nil)),
		set(codef("_r.as_float(op, \"scale\", %s)", scale), scale),
		ifGiven(n, set(codef("%s[0]", n), variable("M"))),
		do("return specs, ()"),
	)))
	want := []string{
		"T_ = x_t = fw.dtype(x_)",
		"if x_t not in (\"a = b\", \"c\"):",
		"if w_ is not None:",
		"    _r.solve(op, \"w\", w_s, 0, 2, 0, \"2*D\")",
		"    E_ = w_s[1]",
		"    w_s = fw.shape(w_)",
		"F_ = E_ + 1",
		"specs: _m.Specs = ((F_,), T_)",
		"for item in n_:",
		"    if not item >= 0:",
		"scale_ = _r.as_float(op, \"scale\", scale_)",
		"return specs, ()",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
