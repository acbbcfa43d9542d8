package conformance

import (
	"context"
	"fmt"
	"time"

	"github.com/opcast/opcast/internal/ndarray"
	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/report"
)

// The groups of checks.
const (
	groupValues   = "Values"
	groupShapes   = "Shapes"
	groupDTypes   = "Dtypes"
	groupStrides  = "Strides"
	groupZero     = "Zero size"
	groupAliasing = "Aliasing"
	groupErrors   = "Errors"
	groupAcross   = "Across adaptors"
	// What surrounds a call: threads, children, memory.
	groupEndurance = "Endurance"
	// What people do with ops beside calling them.
	groupTransform = "Transformations"
)

// The profiles of checks: those of core belong to every run, those of extended cost more than every run can bear, or need
// more than every machine has.
const (
	profileCore     = "core"
	profileExtended = "extended"
)

// Through says by which callers a check runs.
type Through int

const (
	// throughAll stands for every caller: the adaptors, and the library's own callers.
	throughAll Through = iota
	// throughAdaptors leaves out the callers that reach the same exports as the bare backend: what they would show it has shown.
	throughAdaptors
	// throughFunctions stands for Python functions that are tested in the place of a library.
	throughFunctions
	// throughDefinition stands for no caller: the check runs once per op.
	throughDefinition
)

// Foreign says why a check cannot judge what opcast did not generate: a library that was made by hand, or Python functions
// that stand for ops. An empty reason means that it can.
type Foreign struct{ Library, Functions string }

// Reasons that several checks share.
var (
	// aboutGenerated is the reason of checks about what opcast promises and others do not.
	aboutGenerated = Foreign{
		Library:   "about what opcast generates; this library is someone else's",
		Functions: "about what opcast generates; this is a function of someone else",
	}
	// transformsGenerated is the reason of checks that compute what transformations must give from calls of the bare backend.
	transformsGenerated = Foreign{
		Library:   aboutGenerated.Library,
		Functions: "what transformations must give is computed from calls of the bare backend, and there is none",
	}
	// comparedWithBackend is the reason of checks that compare a caller with the bare backend.
	comparedWithBackend = Foreign{
		Library:   aboutGenerated.Library,
		Functions: "there is no bare backend to compare with",
	}
)

// Check is one property of every op through every caller. A check is one value of this type, which stands beside its body.
type Check struct {
	// ID names the check in reports and on the command line, Group the part of the report that it belongs to.
	ID, Group string
	// Doc says what must hold.
	Doc string
	// Profile is the smallest profile that has the check; empty stands for core.
	Profile string
	// Through says by which callers it runs.
	Through Through
	// HostOnly says why it cannot run on another device than the host; empty if it can.
	HostOnly string
	// WithoutKernel says that it runs for ops that have no kernel for the device, too.
	WithoutKernel bool
	// Needs returns why the check does not apply to an op or caller, made by skip or unsupported; nil if it does.
	Needs func(op *opdef.Op, caller Caller) error
	// Foreign says what the check means for ops that opcast did not generate.
	Foreign Foreign
	// Run is the body. It collects failures in its argument; an error that it returns ends the check.
	Run func(t *T) error
}

// runsThrough reports whether the check runs by a caller; functions says that it calls functions in the place of a library.
func (c *Check) runsThrough(caller string, functions bool) bool {
	switch c.Through {
	case throughDefinition:
		return caller == definitionName
	case throughFunctions:
		return functions && caller != definitionName
	case throughAdaptors:
		return caller != definitionName && caller != nativeName && caller != opCallName
	}
	return caller != definitionName
}

// stop ends a check early with a status of its own.
type stop struct {
	status report.Status
	reason string
}

func (s *stop) Error() string { return string(s.status) + ": " + s.reason }

func skip(format string, args ...any) error {
	return &stop{report.Skip, fmt.Sprintf(format, args...)}
}

func unsupported(format string, args ...any) error {
	return &stop{report.Unsupported, fmt.Sprintf(format, args...)}
}

// T is what a check works with: an op, a caller and everything to compare with. Failures are collected; a returned error
// ends the check.
type T struct {
	// ctx is that of the one spec for which a T lives.
	ctx context.Context
	env *environment
	// began is when the check began.
	began  time.Time
	Op     *opdef.Op
	Caller Caller
	// kernel and dtypes are those of the present row.
	kernel, dtypes string
	rows           []row
	// covering restricts each to choices that show every dtype and kernel at least once.
	covering bool
	// silent keeps what is tried out of the reproducers and the measured errors.
	silent bool
	// latest is the transformation that was sent last in this row.
	latest *transformation
	// aboutKernels restricts it to one choice for callers beside the bare backend, which shows what kernels do.
	aboutKernels bool
}

// environment is what all specs of a run share.
type environment struct {
	project *opdef.Project
	device  string
	oracle  Oracle
	// samplers make the contents of ops whose authors wish to, by the names of the ops.
	samplers map[string]sampler
	// callers by name, in the order of the report; only those that can call.
	callers []Caller
	// chain runs several frameworks in one process; nil where there are fewer than two.
	chain chainer
	// stale returns the generated files that are out of date; nil when nobody can tell.
	stale func(context.Context) ([]string, error)
	// random is the number of random calls for each op, figures what they came to.
	random  int
	figures figures
	// debugging returns a caller in a process that looks at what arrays hold; nil where none can be started.
	debugging func(ctx context.Context, name string) (Caller, error)
	// cases is the folder for failing cases; empty when none are wanted.
	cases string
	// seed makes the random inputs; zero is the fixed one. ulps are the errors that were measured; nil keeps none.
	seed uint64
	ulps *measured
	// foreign says that what is under test was not generated; nil where it was.
	foreign *foreign
	// replay has what scripts need to make a call again.
	replay replay
}

// caller finds a caller by name; nil if it cannot call.
func (e *environment) caller(name string) Caller {
	for _, c := range e.callers {
		if c.Name() == name {
			return c
		}
	}
	return nil
}

// Call runs a call with the kernel of the row. The error is errAccounted where the framework cannot express the call, which
// the row remembers, and where the process died, which is a failure of the call.
func (t *T) Call(call *Call, name string) (*Result, error) {
	return t.CallWith(t.Caller, call, name)
}

// CallWith runs a call through another caller.
func (t *T) CallWith(caller Caller, call *Call, name string) (*Result, error) {
	return t.counted(t.attempt(caller, call, name))
}

// direct runs a call as it is, with the kernel that it names.
func (t *T) direct(caller Caller, call *Call, name string) (*Result, error) {
	return t.counted(t.send(caller, call, name))
}

// counted counts a call that was made among those that the check is about.
func (t *T) counted(result *Result, err error) (*Result, error) {
	if err == nil {
		t.row().done++
	}
	return result, err
}

// attempt makes a call with the kernel of the row, which may decline it, and does not count it.
func (t *T) attempt(caller Caller, call *Call, name string) (*Result, error) {
	call = call.clone()
	call.Kernel = t.forced()
	result, err := t.send(caller, call, name)
	if err != nil {
		return nil, err
	}
	if reason := t.declined(call, result); reason != "" {
		t.row().unsupported = reason
		return nil, errAccounted
	}
	return result, nil
}

// send makes a call as it is and does not count it.
func (t *T) send(caller Caller, call *Call, name string) (*Result, error) {
	if isBare(caller) && call.Out == nil && len(call.Op.Outputs) > 0 {
		return nil, fmt.Errorf("%s: the backend needs arrays for its outputs", name)
	}
	result, err := caller.Call(t.ctx, call)
	if err != nil {
		return nil, t.crashed(call, name, err)
	}
	if result.Unsupported != "" {
		t.row().unsupported = result.Unsupported
		return nil, errAccounted
	}
	return result, nil
}

// crashed records that the process died, if that is what an error says; other errors are returned as they are.
func (t *T) crashed(call *Call, name string, err error) error {
	text, died := crashText(err)
	if !died {
		return err
	}
	t.Fail(call, name, "%s", text)
	return errAccounted
}

// fillByte pre-fills output memory: NaN in every float type, so that an element which is never written shows.
const fillByte = 0xff

// call is the plain call of a case for a caller: the backend gets arrays for its outputs.
func (t *T) call(caller Caller, c *Case) (*Call, error) {
	call := newCall(c)
	if !isBare(caller) {
		return call, nil
	}
	var err error
	if call.Out, err = poisoned(c, true); err != nil {
		return nil, err
	}
	return call, call.workspace(caller, c)
}

// poisoned are arrays for the outputs of a case, with saved ones or without, and guard elements around them.
func poisoned(c *Case, saved bool) ([]*Tensor, error) {
	return outputArrays(c, saved, func(o *ndarray.Array) *ndarray.Array {
		return ndarray.Guarded(filled(o, fillByte), guardElements, guardByte)
	})
}

// filled fills the memory of an array.
func filled(a *ndarray.Array, fill byte) *ndarray.Array {
	for i := range a.Data {
		a.Data[i] = fill
	}
	return a
}

// outputArrays makes an array for every output of a case; absent ones are nil.
func outputArrays(c *Case, saved bool, change func(*ndarray.Array) *ndarray.Array) ([]*Tensor, error) {
	results, err := c.results()
	if err != nil {
		return nil, err
	}
	var out []*Tensor
	for i, o := range results[:len(c.Op.Outputs)] {
		if o == nil || c.Op.Outputs[i].Saved && !saved {
			out = append(out, nil)
			continue
		}
		out = append(out, &Tensor{Array: change(o)})
	}
	return out, nil
}

// Guards around output memory.
const (
	guardElements = 32
	guardByte     = 0xa5
)

// right runs the plain call of a case and expects results.
func (t *T) right(caller Caller, c *Case) (*Call, *Result, error) {
	call, result, err := t.uncounted(caller, c)
	if err == nil {
		t.row().done++
	}
	return call, result, err
}

// uncounted is right for calls that only give something to compare with: they do not count as what the check is about.
func (t *T) uncounted(caller Caller, c *Case) (*Call, *Result, error) {
	call, err := t.call(caller, c)
	if err != nil {
		return nil, nil, err
	}
	result, err := t.attempt(caller, call, c.Name)
	if err != nil {
		return nil, nil, err
	}
	if result = t.succeededBy(caller, call, c.Name, result); result == nil {
		return nil, nil, errAccounted
	}
	return call, result, nil
}

// baseline is the result of uncounted.
func (t *T) baseline(caller Caller, c *Case) (*Result, error) {
	_, result, err := t.uncounted(caller, c)
	return result, err
}

// succeeded returns the result, arranged by slots. It is nil if the call raised or returned something else than it should,
// which is recorded.
func (t *T) succeeded(call *Call, name string, result *Result) *Result {
	return t.succeededBy(t.Caller, call, name, result)
}

func (t *T) succeededBy(caller Caller, call *Call, name string, result *Result) *Result {
	if result.Error != nil {
		t.Fail(call, name, "raised %s: %s\n%s", result.Error.Class, result.Error.Text, result.Error.Trace)
		return nil
	}
	outputs, fault := arrange(call, caller, result.Outputs)
	if fault != "" {
		t.Fail(call, name, "%s", fault)
		return nil
	}
	result.Outputs = outputs
	return result
}

// matches compares a result with the reference.
func (t *T) matches(call *Call, c *Case, result *Result) error {
	if c.empty() {
		return nil
	}
	want, err := t.env.oracle.Reference(t.ctx, c, "float64")
	if err != nil {
		return err
	}
	for i, o := range result.present() {
		t.compared(call, c, i, o.Array, want[i], nil)
	}
	return nil
}
