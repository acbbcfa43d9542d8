package conformance

import (
	"context"
	"strings"

	"github.com/opcast/opcast/internal/ndarray"
	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/opdef/expr"
	"github.com/opcast/opcast/internal/rpc"
)

// debugVariable is the environment variable with which a library looks at what arrays hold.
func debugVariable(p *opdef.Project) string { return strings.ToUpper(p.Manifest.Name) + "_DEBUG" }

// debugging returns a caller like the one of the name, in a process in which the library looks at what arrays hold. It
// starts with the first op that has something to look at.
func (s *session) debugging(ctx context.Context, name string) (Caller, error) {
	if r, ok := s.debugged[name]; ok {
		return r, nil
	}
	if name == nativeName {
		return nil, unsupported("the variable would have to be set before its process starts")
	}
	config := s.workerConfig(name, name)
	config.Environ = map[string]string{debugVariable(s.options.Project): "1"}
	started, err := workerCommand(s.options.Python, s.temp, config)
	if err != nil {
		return nil, err
	}
	r := &remote{name: name, worker: rpc.New(started)}
	s.workers = append(s.workers, r.worker)
	if err := r.start(ctx); err != nil {
		return nil, err
	}
	if s.debugged == nil {
		s.debugged = map[string]*remote{}
	}
	s.debugged[name] = r
	return r, nil
}

// checkContentsRefused gives inputs values that their definition excludes, in a process that looks at them: one below the
// lowest, one above the highest, a descending pair. A right call still computes there.
func checkContentsRefused(t *T) error {
	if t.env.debugging == nil {
		return skip("no process that looks at what arrays hold")
	}
	caller, err := t.env.debugging(t.ctx, t.Caller.Name())
	if err != nil {
		return err
	}
	c, err := t.wrongCase()
	if err != nil {
		return err
	}
	for i := range t.Op.Inputs {
		for _, bad := range badContents(c, i) {
			changed := c.with(i, bad.array, bad.kind+" "+t.Op.Inputs[i].Name)
			if err := proceed(t.refusedContents(caller, changed, bad.want)); err != nil {
				return err
			}
		}
	}
	call, result, err := t.callBy(caller, c)
	if err != nil {
		return err
	}
	if result = t.succeededBy(caller, call, c.Name, result); result != nil {
		return t.matches(call, c, result)
	}
	return nil
}

// callBy makes the plain call of a case by a caller of its own.
func (t *T) callBy(caller Caller, c *Case) (*Call, *Result, error) {
	call, err := t.call(caller, c)
	if err != nil {
		return nil, nil, err
	}
	result, err := t.direct(caller, call, c.Name)
	return call, result, err
}

// refusedContents expects a ValueError whose text begins as wanted and goes on with what was found where.
func (t *T) refusedContents(caller Caller, c *Case, want string) error {
	call, result, err := t.callBy(caller, c)
	if err != nil {
		return err
	}
	// A framework that runs programs behind the back of their caller has an error of its own around ours.
	_, found, ours := strings.Cut(result.Error.String(), "ValueError: "+want)
	if !ours || !strings.Contains(found, ", got ") {
		t.Fail(call, c.Name, "%s=1: got %s, want ValueError: %s", debugVariable(t.env.project), result.Error, want)
	}
	return nil
}

// badContent is an array that the definition of an input excludes, and how the error about it begins.
type badContent struct {
	kind, want string
	array      *ndarray.Array
}

// badContents spoils one input of a case in every way that its definition knows.
func badContents(c *Case, i int) []badContent {
	in, x := &c.Op.Inputs[i], c.Inputs[i]
	if x == nil || x.Len() == 0 {
		return nil
	}
	var out []badContent
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
			out = append(out, badContent{kind, begins + words + formatFloat(v), bad})
		}
	}
	one("too low", "values of at least ", in.Min, -1)
	one("too high", "values of at most ", in.Max, 1)
	if bad := descending(c, in, x); in.Sorted && bad != nil {
		out = append(out, badContent{"descending", begins + "ascending values", bad})
	}
	return out
}

// descending are the ends of an input's range, the higher one first; nil where it has no two values.
func descending(c *Case, in *opdef.Arg, x *ndarray.Array) *ndarray.Array {
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

// looked holds where a library has contents to look at.
func looked(op *opdef.Op, caller Caller) error {
	if err := hasContents(op, caller); err != nil {
		return err
	}
	if caller.Name() == nativeName {
		return unsupported("the variable would have to be set before its process starts")
	}
	return nil
}
