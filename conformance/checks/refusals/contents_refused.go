package refusals

import (
	"strings"

	"github.com/opcast/opcast/conformance/calls"
	"github.com/opcast/opcast/conformance/cases"
	"github.com/opcast/opcast/conformance/check"
	"github.com/opcast/opcast/conformance/oracle"
	"github.com/opcast/opcast/internal/ndarray"
	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/opdef/expr"
)

var contentsRefusedCheck = check.Check{
	ID: "contents-refused", Group: check.GroupValues,
	Doc:     "with NAME_DEBUG=1, values outside of their range and descending ones are refused, and others compute",
	Needs:   hasRangedInputs,
	Foreign: check.AboutGenerated,
	Run:     checkContentsRefused,
}

// DebugVariable is the environment variable with which a library looks at what arrays hold.
func DebugVariable(p *opdef.Project) string { return p.Manifest.Variable("DEBUG") }

// checkContentsRefused gives inputs values that their definition excludes, in a process that looks at them: one below the
// lowest, one above the highest, a descending pair. A valid call still computes there.
func checkContentsRefused(t *check.T) error {
	if t.Env.DebugCaller == nil {
		return check.Skip("no process that looks at what arrays hold")
	}
	caller, err := t.Env.DebugCaller(t.Ctx, t.Caller.Name())
	if err != nil {
		return err
	}
	c, err := t.ValidCase()
	if err != nil {
		return err
	}
	if c.Empty() {
		return check.Skip("a call that writes nothing looks at no contents")
	}
	for i := range t.Op.Inputs {
		for _, bad := range invalidContents(c, i) {
			changed := c.With(i, bad.array, bad.kind+" "+t.Op.Inputs[i].Name)
			if err := check.Proceed(expectContentsError(t, caller, changed, bad.want)); err != nil {
				return err
			}
		}
	}
	call, result, err := callCaseBy(t, caller, c)
	if err != nil {
		return err
	}
	if result = t.ExpectSuccessBy(caller, call, c.Name, result); result != nil {
		return t.ExpectReference(call, c, result)
	}
	return nil
}

// callCaseBy makes the plain call of a case by a caller of its own.
func callCaseBy(t *check.T, caller calls.Caller, c *cases.Case) (*calls.Call, *calls.Result, error) {
	call, err := t.PlainCall(caller, c)
	if err != nil {
		return nil, nil, err
	}
	result, err := t.CallAsIs(caller, call, c.Name)
	return call, result, err
}

// expectContentsError expects a ValueError whose text begins as wanted and goes on with what was found where.
func expectContentsError(t *check.T, caller calls.Caller, c *cases.Case, want string) error {
	call, result, err := callCaseBy(t, caller, c)
	if err != nil {
		return err
	}
	// A framework that runs programs behind the back of their caller has an error of its own around ours.
	_, found, ours := strings.Cut(result.Error.String(), "ValueError: "+want)
	if !ours || !strings.Contains(found, ", got ") {
		t.Fail(call, c.Name, "%s=1: got %s, want ValueError: %s", DebugVariable(t.Env.Project), result.Error, want)
	}
	return nil
}

// invalidContent is an array that the definition of an input excludes, and how the error about it begins.
type invalidContent struct {
	kind, want string
	array      *ndarray.Array
}

// invalidContents spoils one input of a case in every way that its definition knows.
func invalidContents(c *cases.Case, i int) []invalidContent {
	in, x := &c.Op.Inputs[i], c.Inputs[i]
	if x == nil || x.Len() == 0 {
		return nil
	}
	var out []invalidContent
	begins := c.Op.Name + ": " + in.Name + ": expected "
	one := func(kind, words string, bound *expr.Expr, beyond float64) {
		if bound == nil {
			return
		}
		v, err := bound.EvalFloat(c)
		bad := x.Dense()
		if err != nil {
			return
		}
		ndarray.PutFloat(bad.DType, bad.Data, bad.Len()/2, v+beyond)
		if ndarray.GetFloat(bad.DType, bad.Data, bad.Len()/2) == v+beyond { // else the dtype has no such value
			out = append(out, invalidContent{kind, begins + words + oracle.FormatFloat(v), bad})
		}
	}
	one("too low", "values of at least ", in.Min, -1)
	one("too high", "values of at most ", in.Max, 1)
	if bad := descending(c, in, x); in.Sorted && bad != nil {
		out = append(out, invalidContent{"descending", begins + "ascending values", bad})
	}
	return out
}

// descending are the ends of an input's range, the higher one first; nil where it has no two values.
func descending(c *cases.Case, in *opdef.Arg, x *ndarray.Array) *ndarray.Array {
	if in.Min == nil || in.Max == nil || x.Len() < 2 {
		return nil
	}
	low, errLow := in.Min.EvalFloat(c)
	high, errHigh := in.Max.EvalFloat(c)
	if errLow != nil || errHigh != nil || low >= high {
		return nil
	}
	bad := x.Dense()
	for k := range bad.Len() {
		ndarray.PutFloat(bad.DType, bad.Data, k, high)
	}
	ndarray.PutFloat(bad.DType, bad.Data, bad.Len()-1, low)
	return bad
}

// hasRangedInputs holds where a library has contents to look at.
func hasRangedInputs(op *opdef.Op, caller calls.Caller) error {
	if err := check.HasContents(op, caller); err != nil {
		return err
	}
	if caller.Name() == calls.NativeName {
		return check.Unsupported("the variable would have to be set before its process starts")
	}
	return nil
}
