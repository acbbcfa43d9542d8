package load

import (
	"slices"

	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/code"
	"github.com/opcast/opcast/internal/language/opdef/raw"
	"github.com/opcast/opcast/internal/language/opdef/tomldoc"
)

// packs reads the dtype of which each element of an argument holds several numbers.
func (c *checker) packs(path string, arg *opdef.Arg, packs string) {
	where := tomldoc.Join(path, "packs")
	if !c.doc.Given(where) {
		return
	}
	dims := arg.Type.Dims
	noInteger := func(short string) bool {
		d, known := dtype.Lookup(short)
		return known && (d.Code > 1 || d.CPP == "")
	}
	switch allowed := raw.Packed(); {
	case !slices.Contains(allowed, packs):
		c.report(where, code.Choice, diag.DidYouMean(packs, allowed, "dtypes that are packed are "+diag.OneOf(allowed)), "unknown packs %q", packs)
	case c.doc.Given(tomldoc.Join(path, "min")) || c.doc.Given(tomldoc.Join(path, "max")) || arg.Sorted:
		c.report(where, code.Choice, "leave min, max and sorted out", "%s: packed numbers have no range", arg.Name)
	case arg.List:
		c.report(where, code.Choice, "leave it out", "list %s cannot be packed", arg.Name)
	case len(dims) == 0 || dims[len(dims)-1].Expr == nil || slices.ContainsFunc(slices.Concat(c.raw.DTypes[arg.Type.Var], []string{arg.Type.DType}), noInteger):
		c.report(where, code.Choice, `declare it as bytes or other integers, such as "u8[M, K // 2]"`, "%s cannot hold %s: it is %s", arg.Name, packs, arg.Type.Text)
	}
	arg.Packs = packs
}
