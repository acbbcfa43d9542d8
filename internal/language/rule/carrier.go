package rule

import (
	"slices"

	"github.com/opcast/opcast/internal/language/opdef"
)

// Carrier is the output from which the library reads a dtype variable that an attr binds, as the attr is no argument of
// its functions; nil for a variable that no output has. An output that is always there is best.
func Carrier(op *opdef.Op, variable string) *opdef.Arg {
	var found *opdef.Arg
	for i := range op.Outputs {
		out := &op.Outputs[i]
		if out.Type.Var == variable && (found == nil || sometimes(found) && !sometimes(out)) {
			found = out
		}
	}
	return found
}

// sometimes says whether an output may be missing.
func sometimes(out *opdef.Arg) bool { return out.PresentIf != "" || out.Saved }

// carrier is that of a variable of a bare call; nil where an input tells the dtype, or the call.
func (e *evaluation) carrier(variable string) *opdef.Arg {
	_, bound := e.dtypes[variable]
	if !e.call.Bare || variable == "" || bound {
		return nil
	}
	return Carrier(e.program.Op, variable)
}

// sameDType is the dtype that an input must share, and what it shares it with: an earlier input, or the attr that sets its
// variable. A bare call has an output in the attr's place.
func (e *evaluation) sameDType(r Rule) (want, other string) {
	if carrier := e.carrier(r.Var); carrier != nil {
		return e.carriedDType(carrier), r.Other
	}
	i := e.program.Op.InputIndex(r.Arg)
	return e.outDType(e.program.Op.Inputs[i].Type), r.Other
}

// carried checks the dtype of a tensor whose variable an output carries.
func (e *evaluation) carried(a *opdef.Arg, v Value, carrier *opdef.Arg) error {
	if a == carrier {
		allowed := e.program.choices(a.Type.Var)
		if !slices.Contains(allowed, v.DType) {
			return expected("TypeError", a.Name, "dtype %s, got %s", Or(allowed), v.DType)
		}
		return nil
	}
	if want := e.carriedDType(carrier); v.DType != want {
		return expected("TypeError", a.Name, "dtype %s (as %s), got %s", want, carrier.Name, v.DType)
	}
	return nil
}

// carriedDType is the dtype of a carrier, or, where the call has none, the first that the variable may be.
func (e *evaluation) carriedDType(carrier *opdef.Arg) string {
	if out := e.call.Out[carrier.Name]; out.Given {
		return out.DType
	}
	return e.program.choices(carrier.Type.Var)[0]
}
