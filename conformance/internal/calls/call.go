// Package calls describes one call and its result, the callers that can make it, and the form in which both travel to
// another process.
//
// A Caller is a framework's adaptor, or one of the ways to reach the library without a framework: through tvm-ffi in Python
// ("backend"), from Go ("native"), or by the number of the op ("op_call").
package calls

import (
	"context"
	"maps"
	"slices"

	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
)

// Tensor is an array argument: an array and what a framework adds to it.
type Tensor struct {
	*ndarray.Array
	// Device is empty for the device under test.
	Device   string
	ReadOnly bool
}

// NumberList is an argument that is not an array: a Python list of numbers.
type NumberList []float64

// NumPyNumber is a scalar of NumPy with 64 bits, or its bool, of a bool, int64 or float64.
type NumPyNumber struct{ Value any }

// Call is one call of an op, valid or invalid.
type Call struct {
	Op *opdef.Op
	// Inputs holds a *Tensor, a NumberList, nil (absent), or a bool, int64, float64 or NumPyNumber per input.
	Inputs []any
	// Attrs holds int64, float64, bool, string, []int64, cases.DType or NumberList values of the attrs that are given.
	Attrs map[string]any
	// Out are the arrays for the results: nil, or one per output, which is nil for an output that is absent or not asked
	// for. The backend always needs them.
	Out []*Tensor
	// Scratch is work space, one array per declared scratch, or nil for none. Only bare callers pass it.
	Scratch []*Tensor
	// Style says how the arguments are passed.
	Style Style
	// Mode is "eager" or "jit"; Probe names a special way to call that the worker knows, "group.name"; Kernel forces a
	// variant.
	Mode, Probe, Kernel string
	// Options are what a probe needs to know: values as in Attrs, nil, *Tensor, lists and maps of such.
	Options map[string]any
	// Extra are keyword arguments that the op does not have.
	Extra map[string]any
	// Lists says which arrays belong to lists, where that is not what the op says.
	Lists *Lists
}

// Tuple is a tuple of Python.
type Tuple []any

// Style is a way to pass arguments; all are the same call.
type Style int

// The styles: arrays by position and attrs by keyword; all by keyword; all by keyword in reverse order; by position what the op's
// order of parameters lists.
const (
	Positional Style = iota
	Keywords
	Reversed
	InOrder
)

// New is the plain call of a case.
func New(c *cases.Case) *Call {
	call := &Call{Op: c.Op, Attrs: maps.Clone(c.Attrs), Mode: "eager"}
	for _, a := range c.Inputs {
		if a == nil {
			call.Inputs = append(call.Inputs, nil)
		} else {
			call.Inputs = append(call.Inputs, &Tensor{Array: a})
		}
	}
	return call
}

// AttrValues are the attrs as an export takes them, all of them, in its order; a bound dtype is that of an output.
func (c *Call) AttrValues() []any {
	var out []any
	for _, a := range c.Op.Attrs {
		v, given := c.Attrs[a.Name]
		if !given {
			v = a.Default
		}
		if d, isDType := v.(cases.DType); isDType {
			v = string(d)
		}
		if a.Binds == "" {
			out = append(out, v)
		}
	}
	return out
}

// Clone returns a copy whose arguments can be exchanged.
func (c *Call) Clone() *Call {
	out := *c
	out.Inputs, out.Attrs, out.Out = slices.Clone(c.Inputs), maps.Clone(c.Attrs), slices.Clone(c.Out)
	out.Scratch = slices.Clone(c.Scratch)
	return &out
}

// Output is one result as the framework reports it; its Array is nil where the result is None.
type Output struct {
	*ndarray.Array
	// Strides are those of the framework's array; the Array is dense.
	Strides []int64
	Device  string
	// Abstract results (meta, fake, shapes) have no elements.
	Abstract bool
	// OutIndex is the index of the out argument that this result is, ArgumentIndex the number of the array argument; or -1.
	OutIndex, ArgumentIndex int
	// Span is the memory that the result occupies, first address and the one after the last.
	Span [2]uint64
}

// CallError is the exception that a call raised.
type CallError struct {
	Class string `json:"class"`
	Text  string `json:"text"`
	Trace string `json:"trace"`
}

// String is class and text, or what stands for a call that raised nothing.
func (e *CallError) String() string {
	if e == nil {
		return "returning"
	}
	return e.Class + ": " + e.Text
}

// Result is what a call did.
type Result struct {
	// Unsupported says why the framework cannot express the call.
	Unsupported string
	Error       *CallError
	// Outputs are aligned with the op's slots once the call is known to have succeeded.
	Outputs []Output
	// Notes are what a probe has to tell beside its results.
	Notes map[string]any
	// Launches is the number of kernels that the call started.
	Launches int64
	// Buffers are the bytes behind every array argument after the call, in the order inputs, out, scratch; Spans their
	// memory.
	Buffers [][]byte
	Spans   [][2]uint64
}

// The callers beside the adaptors: the bare exports, which is what C++ sees; the same library from Go; and any op by its
// number.
const (
	BackendName = "backend"
	NativeName  = "native"
	OpCallName  = "op_call"
)

// IsBare reports whether a caller passes outputs and scratch itself, as the library's own callers do.
func IsBare(caller Caller) bool {
	return slices.Contains([]string{BackendName, NativeName, OpCallName}, caller.Name())
}

// Probe is a special way to call, which the worker of a caller knows by its name.
type Probe struct {
	Name string `json:"name"`
	// Refused says that the call must raise a documented error; Out that it needs a function with out=.
	Refused bool `json:"refused,omitempty"`
	Out     bool `json:"out,omitempty"`
}

// ProbesOf are probes of these names, about which there is nothing else to say.
func ProbesOf(names ...string) []Probe {
	var out []Probe
	for _, name := range names {
		out = append(out, Probe{Name: name})
	}
	return out
}

// Caller calls ops in one framework.
type Caller interface {
	// Name is the adaptor's name in reports; ArrayWord the array type in its messages.
	Name() string
	ArrayWord() string
	// Probes are the special calls of a group that the framework offers.
	Probes(group string) []Probe
	// Call runs one call. A *rpc.CrashError means that it ended the process.
	Call(ctx context.Context, call *Call) (*Result, error)
}

// Tensors are the array arguments of a call in the order in which results report them.
func (c *Call) Tensors() []*Tensor {
	var out []*Tensor
	for _, in := range c.Inputs {
		if t, ok := in.(*Tensor); ok {
			out = append(out, t)
		}
	}
	for _, list := range [][]*Tensor{c.Out, c.Scratch} {
		out = append(out, nonNil(list)...)
	}
	return out
}

// nonNil are the arrays of a list that are not nil.
func nonNil(list []*Tensor) []*Tensor {
	return slices.DeleteFunc(slices.Clone(list), func(t *Tensor) bool { return t == nil })
}

// GivenOutputs are the output arrays that are there.
func (c *Call) GivenOutputs() []*Tensor { return nonNil(c.Out) }

// TensorIndex is the place of a tensor among the array arguments, or -1.
func (c *Call) TensorIndex(t *Tensor) int { return slices.Index(c.Tensors(), t) }

// InputTensors are the arrays of a case as arguments.
func InputTensors(c *cases.Case) []*Tensor {
	return TensorsOf(slices.DeleteFunc(slices.Clone(c.Inputs), func(a *ndarray.Array) bool { return a == nil }))
}

// TensorsOf makes an argument of each array.
func TensorsOf(list []*ndarray.Array) []*Tensor {
	out := []*Tensor{}
	for _, a := range list {
		out = append(out, &Tensor{Array: a})
	}
	return out
}

// MoveTo puts all arrays of a call on a device.
func (c *Call) MoveTo(device string) {
	for i, v := range c.Inputs {
		if x, ok := v.(*Tensor); ok {
			c.Inputs[i] = &Tensor{Array: x.Array, Device: device}
		}
	}
	for _, list := range [][]*Tensor{c.Out, c.Scratch} {
		for i, x := range list {
			if x != nil {
				list[i] = &Tensor{Array: x.Array, Device: device}
			}
		}
	}
}

// Modes are the ways in which a caller calls.
func Modes(caller Caller) []string { return AbilitiesOf(caller).Modes }
