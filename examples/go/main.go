// Command go calls an op of a collection from Go: no Python, no framework, no cgo. docs/calling.md explains it.
//
//	CGO_ENABLED=0 go run ./examples/go LIBTVM_FFI LIBRARY
//
// It needs nothing of this repository and can be copied. The layouts are those of 64-bit Linux.
package main

import (
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"github.com/ebitengine/purego"
)

// value is TVMFFIAny: a type, and 8 bytes that are the value or its address.
type value struct {
	kind, _ int32
	bits    uint64
}

// The types of values that the calls below need.
const (
	kindInt, kindFloat, kindTensor, kindText = 1, 3, 7, 9
)

// tensor is DLTensor.
type tensor struct {
	data             unsafe.Pointer
	device, deviceID int32
	rank             int32
	code, bits       uint8
	lanes            uint16
	shape, strides   *int64
	offset           uint64
}

// text is TVMFFIByteArray.
type text struct {
	data *byte
	size uintptr
}

func (t text) String() string { return string(unsafe.Slice(t.data, t.size)) }

// library is what the calls need of libtvm_ffi and of the collection.
type library struct {
	opCall    func(self, args unsafe.Pointer, count int32, result unsafe.Pointer) int32
	takeError func(out unsafe.Pointer)
	release   func(object uintptr) int32
}

func open(tvmFFI, path string) (*library, error) {
	tvm, err := purego.Dlopen(tvmFFI, purego.RTLD_NOW|purego.RTLD_GLOBAL) // the collection takes its symbols from here
	if err != nil {
		return nil, err
	}
	collection, err := purego.Dlopen(path, purego.RTLD_NOW)
	if err != nil {
		return nil, err
	}
	l := new(library)
	purego.RegisterLibFunc(&l.takeError, tvm, "TVMFFIErrorMoveFromRaised")
	purego.RegisterLibFunc(&l.release, tvm, "TVMFFIObjectDecRef")
	purego.RegisterLibFunc(&l.opCall, collection, "__tvm_ffi__opcast_op_call")
	return l, nil
}

// attr is a keyword argument; the value is a float64, or whatever else you add to arguments.add.
type attr struct {
	name  string
	value float64
}

// call runs an op. A missing attr has its default.
func (l *library) call(op string, inputs, outputs []*tensor, attrs ...attr) error {
	var args arguments
	defer args.pin.Unpin()
	args.add(op, len(inputs), len(outputs), 0) // 0 arrays of scratch: the library allocates what the op needs
	for _, t := range append(inputs, outputs...) {
		args.add(t)
	}
	for _, a := range attrs {
		args.add(a.name, a.value)
	}
	result := new(value)
	args.pin.Pin(result)
	args.pin.Pin(&args.list[0])
	runtime.LockOSThread() // the error is kept for the thread that raised it
	defer runtime.UnlockOSThread()
	if l.opCall(nil, unsafe.Pointer(&args.list[0]), int32(len(args.list)), unsafe.Pointer(result)) == 0 {
		return nil
	}
	raised := new(uintptr)
	args.pin.Pin(raised)
	l.takeError(unsafe.Pointer(raised))
	defer l.release(*raised)
	cell := (*struct{ kind, message text })(unsafe.Add(unsafe.Pointer(nil), *raised+24))
	return fmt.Errorf("%s: %s", cell.kind, cell.message)
}

// arguments are the values of one call; what they point to is pinned until it is over.
type arguments struct {
	list []value
	pin  runtime.Pinner
}

func (a *arguments) add(list ...any) {
	for _, x := range list {
		v := value{}
		switch x := x.(type) {
		case int:
			v.kind, v.bits = kindInt, uint64(x)
		case float64:
			v.kind, v.bits = kindFloat, *(*uint64)(unsafe.Pointer(&x))
		case string:
			t := &text{unsafe.StringData(x), uintptr(len(x))}
			a.pin.Pin(t)
			a.pin.Pin(t.data)
			v.kind, v.bits = kindText, uint64(uintptr(unsafe.Pointer(t)))
		case *tensor:
			a.pin.Pin(x)
			a.pin.Pin(x.data)
			a.pin.Pin(x.shape)
			v.kind, v.bits = kindTensor, uint64(uintptr(unsafe.Pointer(x)))
		}
		a.list = append(a.list, v)
	}
}

// floats is a dense array over the elements of a slice, on the CPU.
func floats(elements []float32, shape ...int64) *tensor {
	return &tensor{
		data: unsafe.Pointer(&elements[0]), device: 1, rank: int32(len(shape)),
		code: 2, bits: 32, lanes: 1, shape: &shape[0], // no strides: dense
	}
}

func run(tvmFFI, path string) error {
	l, err := open(tvmFFI, path)
	if err != nil {
		return err
	}
	y := make([]float32, 4)
	inputs := []*tensor{floats([]float32{3, 4, 6, 8}, 2, 2), floats([]float32{1, 1}, 2)}
	outputs := []*tensor{floats(y, 2, 2)}
	if err := l.call("rms_norm", inputs, outputs, attr{"eps", 0.5}); err != nil {
		return err
	}
	fmt.Println(y[:2])
	fmt.Println(y[2:])
	fmt.Println(l.call("rms_norm", inputs, outputs, attr{"eps", -1})) // the op refuses this
	return nil
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: go run . LIBTVM_FFI LIBRARY")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
