package workload

import (
	"slices"

	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/opdef"
)

// ContentsDecide says whether what an op reads may depend on contents: some input holds integers that count or choose something
// that has a size.
func ContentsDecide(op *opdef.Op) bool {
	const integers = 1 // DLPack's codes of integers with and without sign are not above; bool has the latter, too
	return slices.ContainsFunc(op.Inputs, func(in opdef.Arg) bool {
		d := dtype.Must(shortOf(op, in.Type))
		return in.Max != nil && len(in.Max.Symbols()) > 0 && d.Code <= integers && d.Short != "bool"
	})
}

// shortOf is a dtype that an argument may have.
func shortOf(op *opdef.Op, t opdef.Type) string {
	for _, v := range op.DTypes {
		if v.Name == t.Var {
			return v.OneOf[0]
		}
	}
	return t.DType
}
