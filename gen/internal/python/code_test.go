package python

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Neighbours that ask the same stand under one condition, at every depth; what stands between them keeps them apart.
func TestJoinGiven(t *testing.T) {
	w, n := variable("w"), variable("n")
	read := func(arg code) []statement { return ifGiven(arg, set(codef("_r.as_float(%s)", arg), arg)) }
	check := func(arg code) []statement { return ifGiven(arg, raise(codef("%s < 0", arg), "_r.wrong(%s)", arg)) }
	got := lines(joinGiven(slices.Concat(
		read(w), check(w), check(n),
		block(codef("if %s:", n), slices.Concat(check(w), check(w))),
		block(codef("if %s:", n), check(n)),
		check(w),
	)))
	want := []string{
		"if w_ is not None:",
		"    w_ = _r.as_float(w_)",
		"    if w_ < 0:",
		"        raise _r.wrong(w_)",
		"if n_ is not None:",
		"    if n_ < 0:",
		"        raise _r.wrong(n_)",
		"if n_:",
		"    if w_ is not None:",
		"        if w_ < 0:",
		"            raise _r.wrong(w_)",
		"        if w_ < 0:",
		"            raise _r.wrong(w_)",
		"if n_:",
		"    if n_ is not None:",
		"        if n_ < 0:",
		"            raise _r.wrong(n_)",
		"if w_ is not None:",
		"    if w_ < 0:",
		"        raise _r.wrong(w_)",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

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
