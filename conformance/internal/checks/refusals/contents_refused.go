package refusals

import (
	"bytes"
	"math/big"
	"slices"
	"strings"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
)

var contentsRefusedCheck = check.Check{
	ID: "contents-refused", Group: check.GroupValues, Generated: true,
	Doc:   "indices out of range are refused on a CPU, and all contents with NAME_DEBUG=1; other integers end no process",
	Needs: holdsIntegersOrRanges, Foreign: check.AboutGenerated, Run: checkContentsRefused,
}

// DebugVariable is the environment variable with which a library looks at what arrays hold.
func DebugVariable(p *opdef.Project) string { return p.Manifest.Variable("DEBUG") }

// checkContentsRefused gives inputs values that their definition excludes: one below the lowest, one above the highest, a
// descending pair. A valid call still computes in the same process.
func checkContentsRefused(t *check.T) error {
	c, err := t.ValidCase()
	if err != nil {
		return err
	}
	if c.Empty() {
		return check.Skip("a call that writes nothing looks at no contents")
	}
	caller := t.Caller
	for i := range t.Op.Inputs {
		excluded := invalidContents(c, i)
		if len(excluded) == 0 {
			continue
		}
		if caller, err = refuser(t, &t.Op.Inputs[i]); err != nil {
			return err
		}
		for _, bad := range excluded {
			changed := c.With(i, bad.array, bad.kind+" "+t.Op.Inputs[i].Name)
			if err := check.Proceed(expectContentsError(t, caller, changed, bad.want)); err != nil {
				return err
			}
		}
	}
	if err := check.Proceed(makeWildCalls(t, c)); err != nil {
		return err
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

// makeWildCalls gives the integer inputs that no call checks values that lead far out of every array. A kernel for a CPU may
// compute anything from them, but has to come back.
func makeWildCalls(t *check.T, c *cases.Case) error {
	if t.Env.Device != "cpu" {
		return nil
	}
	for i, x := range c.Inputs {
		in := &t.Op.Inputs[i]
		if x == nil || !x.DType.Indexes() || t.Op.HasIndices(in) || in.Mutated {
			continue
		}
		low, high := ndarray.IntRange(x.DType)
		for _, v := range []*big.Int{low, high, big.NewInt(-1), big.NewInt(1e9)} {
			if v.Cmp(low) < 0 { // the dtype has no signs
				continue
			}
			wild := x.Dense()
			for at := range wild.Len() {
				ndarray.PutInt(wild.DType, wild.Data, at, v)
			}
			if _, _, err := callCaseBy(t, t.Caller, c.With(i, wild, in.Name+" of "+v.String())); err != nil {
				return err
			}
		}
	}
	return nil
}

// refuser is a caller that looks at what an input holds: on a CPU every one looks at indices, else only one that debugs.
func refuser(t *check.T, in *opdef.Arg) (calls.Caller, error) {
	if t.Env.Device == "cpu" && t.Op.HasIndices(in) {
		return t.Caller, nil
	}
	if t.Env.DebugCaller == nil {
		return nil, check.Skip("no process that looks at what arrays hold")
	}
	return t.Env.DebugCaller(t.Ctx, t.Caller.Name())
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
		t.Fail(call, c.Name, "got %s, want ValueError: %s", result.Error, want)
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
	limits, err := cases.LimitsOf(in, c)
	if err != nil {
		return nil
	}
	if bad := beyond(x, limits.Min, -1); bad != nil {
		out = append(out, invalidContent{"too low", begins + "values of at least " + in.Min.BoundText(limits.Min), bad})
	}
	if bad := beyond(x, limits.Max, 1); bad != nil {
		out = append(out, invalidContent{"too high", begins + "values of at most " + in.Max.BoundText(limits.Max), bad})
	}
	if bad := descending(c, in, x); in.Sorted && bad != nil {
		out = append(out, invalidContent{"descending", begins + "ascending values", bad})
	}
	return out
}

// beyond is an array with one element that is next to a bound, or one away from it; nil where the dtype has no such value.
func beyond(x *ndarray.Array, bound *big.Rat, step int64) *ndarray.Array {
	if bound == nil {
		return nil
	}
	bad, at := x.Dense(), x.Len()/2
	wrong := new(big.Rat).Add(bound, big.NewRat(step, 1))
	if !ndarray.IsFloat(x.DType) {
		v := new(big.Int).Div(wrong.Num(), wrong.Denom()) // rounded down, which is still above a bound that is no integer
		if step < 0 && !wrong.IsInt() {
			v.Add(v, big.NewInt(1))
		}
		if low, high := ndarray.IntRange(bad.DType); v.Cmp(low) < 0 || v.Cmp(high) > 0 {
			return nil
		}
		ndarray.PutInt(bad.DType, bad.Data, at, v)
		return bad
	}
	v, exact := wrong.Float64()
	ndarray.PutFloat(bad.DType, bad.Data, at, v)
	if have := ndarray.GetFloat(bad.DType, bad.Data, at); have != v || !exact && new(big.Rat).SetFloat64(v).Cmp(bound)*int(step) <= 0 {
		return nil
	}
	return bad
}

// descending are the ends of an input's range, the higher one first; nil where it has no two values.
func descending(c *cases.Case, in *opdef.Arg, x *ndarray.Array) *ndarray.Array {
	limits, err := cases.LimitsOf(in, c)
	if err != nil || limits.Min == nil || limits.Max == nil || x.Len() < 2 {
		return nil
	}
	low, high := limits.FloatEnds()
	one, other := ndarray.FromFloats(x.DType, nil, []float64{low}), ndarray.FromFloats(x.DType, nil, []float64{high})
	if !ndarray.IsFloat(x.DType) {
		least, most := limits.IntEnds(x.DType)
		one, other = ndarray.FromInts(x.DType, nil, []*big.Int{least}), ndarray.FromInts(x.DType, nil, []*big.Int{most})
	}
	bad := x.Dense()
	bad.Data = append(bytes.Repeat(other.Data, int(x.Len()-1)), one.Data...)
	limits.Min, limits.Max = nil, nil
	if at, _ := limits.Outside(bad); at < 0 {
		return nil
	}
	return bad
}

// holdsIntegersOrRanges holds where a library has contents to look at, or leaves them to its kernels.
func holdsIntegersOrRanges(op *opdef.Op, caller calls.Caller) error {
	integers := slices.ContainsFunc(op.Inputs, func(in opdef.Arg) bool {
		return slices.ContainsFunc(op.Allowed(in), func(short string) bool {
			d, _ := dtype.Lookup(short)
			return d.Indexes()
		})
	})
	if err := check.HasContents(op, caller); err != nil && !integers {
		return err
	}
	if caller.Name() == calls.NativeName {
		return check.Unsupported("the variable would have to be set before its process starts")
	}
	return nil
}
