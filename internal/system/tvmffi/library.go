// Package tvmffi calls the exported functions of a collection's library from Go, without Python and without cgo.
//
// It knows tvm-ffi's calling convention and nothing of any op. A call runs in this process: a kernel that crashes takes
// it down, and libtvm_ffi brings a handler of its own for SIGSEGV, so that even a nil pointer in Go code ends the
// process from then on instead of panicking. Who has to survive runs such calls in a child.
package tvmffi

import (
	"fmt"
	"runtime"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
)

// Library is a loaded collection. It is never unloaded: its threads live as long as the process.
type Library struct {
	handle uintptr
	tvm    runtimeAPI
	// functions are those that were found, by name: to prepare one for calls takes longer than many calls.
	functions sync.Map
}

// runtimeAPI is what a caller needs of libtvm_ffi.
type runtimeAPI struct {
	takeError func(out unsafe.Pointer)
	release   func(object uintptr) int32
}

// Error is what a function of the library raised: the class that Python would see, and the text.
type Error struct{ Kind, Text string }

// Error returns "Class: text".
func (e *Error) Error() string { return e.Kind + ": " + e.Text }

// Open loads libtvm_ffi, whose symbols the library needs, and then the library.
func Open(tvmFFI, library string) (*Library, error) {
	tvm, err := purego.Dlopen(tvmFFI, purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		return nil, fmt.Errorf("load tvm-ffi: %w", err)
	}
	handle, err := purego.Dlopen(library, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, fmt.Errorf("load library: %w", err)
	}
	l := &Library{handle: handle}
	for _, symbol := range []struct {
		name     string
		function any
	}{
		{"TVMFFIErrorMoveFromRaised", &l.tvm.takeError},
		{"TVMFFIObjectDecRef", &l.tvm.release},
	} {
		address, err := purego.Dlsym(tvm, symbol.name)
		if err != nil {
			return nil, fmt.Errorf("load tvm-ffi: %w", err)
		}
		purego.RegisterFunc(symbol.function, address)
	}
	return l, nil
}

// Function is one exported function of a library.
type Function struct {
	library *Library
	call    func(self unsafe.Pointer, args unsafe.Pointer, count int32, result unsafe.Pointer) int32
}

// Function finds the function that tvm-ffi knows by the name, such as an op or "_opcast_kernels".
func (l *Library) Function(name string) (*Function, error) {
	if known, ok := l.functions.Load(name); ok {
		return known.(*Function), nil //nolint:forcetypeassert // nothing else is stored
	}
	address, err := purego.Dlsym(l.handle, "__tvm_ffi_"+name)
	if err != nil {
		return nil, fmt.Errorf("find function: %w", err)
	}
	f := &Function{library: l}
	purego.RegisterFunc(&f.call, address)
	l.functions.Store(name, f)
	return f, nil
}

// Call finds a function and calls it.
func (l *Library) Call(name string, args ...any) (any, error) {
	f, err := l.Function(name)
	if err != nil {
		return nil, err
	}
	return f.Call(args...)
}

// Call calls the function. An argument is nil, a bool, int, int64, float64 or string, a []int64, a *Tensor, a *DLTensor,
// an *Object or an Any; nil pointers are nil. The result is nil, a bool, int64, float64 or string, or an *Object, which
// the caller releases. What the function raises is an *Error.
func (f *Function) Call(args ...any) (any, error) {
	var pin runtime.Pinner
	defer pin.Unpin()
	values := make([]Any, len(args)+1) // one more, so that there is a first
	for i, arg := range args {
		var err error
		if values[i], err = encode(&pin, arg); err != nil {
			return nil, fmt.Errorf("argument %d: %w", i, err)
		}
	}
	result := new(Any)
	pin.Pin(&values[0])
	pin.Pin(result)
	// tvm-ffi keeps what was raised for the thread that raised it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if f.call(nil, unsafe.Pointer(&values[0]), int32(len(args)), unsafe.Pointer(result)) != 0 {
		return nil, f.library.raised(&pin)
	}
	return f.library.decode(result)
}

// raised takes the error that the last call of this thread has left.
func (l *Library) raised(pin *runtime.Pinner) error {
	handle := new(uintptr)
	pin.Pin(handle)
	l.tvm.takeError(unsafe.Pointer(handle))
	if *handle == 0 {
		return &Error{"RuntimeError", "a call failed and raised nothing"}
	}
	defer l.tvm.release(*handle)
	cell := (*struct{ kind, message bytes })(foreign(*handle + objectHeader))
	return &Error{cell.kind.String(), cell.message.String()}
}

// OpCall is a call of any op by its number. Trailing optional arrays may be left out, absent ones are nil.
type OpCall struct {
	Kind                     int64
	Inputs, Outputs, Scratch []*Tensor
	Attrs                    []Attr
}

// Attr is a keyword argument: its name, and a value as Call takes it.
type Attr struct {
	Name  string
	Value any
}

// OpCall calls an op through the library's registry: attrs that are missing have their defaults.
func (l *Library) OpCall(c OpCall) error {
	args := []any{c.Kind, len(c.Inputs), len(c.Outputs), len(c.Scratch)}
	for _, list := range [][]*Tensor{c.Inputs, c.Outputs, c.Scratch} {
		for _, t := range list {
			args = append(args, t)
		}
	}
	for _, a := range c.Attrs {
		args = append(args, a.Name, a.Value)
	}
	_, err := l.Call("_opcast_op_call", args...)
	return err
}
