package tvmffi

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"unsafe"
)

// Any is a value of tvm-ffi: its type, and 8 bytes that are the value or its address.
type Any struct {
	Type  int32
	Small uint32 // length of a small string, else zero
	Bits  uint64
}

// Types of Any.
const (
	TypeNone     = 0
	TypeInt      = 1
	TypeBool     = 2
	TypeFloat    = 3
	TypeDLTensor = 7
	TypeCString  = 8
	TypeBytes    = 9 // address of a pointer and a size, which may also be a string
	TypeSmallStr = 11
	TypeObject   = 64 // this and all that follow are objects with a count of references
	TypeStr      = 65
)

// objectHeader is the size of what precedes the contents of an object.
const objectHeader = 24

// bytes is a string as tvm-ffi lays it out.
type bytes struct {
	data *byte
	size uintptr
}

func (b bytes) String() string { return strings.Clone(unsafe.String(b.data, b.size)) }

// foreign is a pointer to memory that Go does not manage.
func foreign(address uintptr) unsafe.Pointer { return unsafe.Add(unsafe.Pointer(nil), address) }

func address[T any](pin *runtime.Pinner, p *T) uint64 {
	pin.Pin(p)
	return uint64(uintptr(unsafe.Pointer(p)))
}

// Object is an object of tvm-ffi, such as a tensor that owns its memory. The holder releases it once.
type Object struct {
	Type    int32
	address uintptr
	library *Library
}

// Release gives the reference back.
func (o *Object) Release() { o.library.tvm.release(o.address) }

// encode turns an argument into a value; memory of Go stays where it is until it is unpinned.
func encode(pin *runtime.Pinner, arg any) (Any, error) {
	switch v := arg.(type) {
	case nil:
		return Any{}, nil
	case bool:
		if v {
			return Any{Type: TypeBool, Bits: 1}, nil
		}
		return Any{Type: TypeBool}, nil
	case int:
		return Any{Type: TypeInt, Bits: uint64(v)}, nil
	case int64:
		return Any{Type: TypeInt, Bits: uint64(v)}, nil
	case float64:
		return Any{Type: TypeFloat, Bits: math.Float64bits(v)}, nil
	case string:
		if strings.Contains(v, "\x00") {
			pin.Pin(unsafe.StringData(v))
			return Any{Type: TypeBytes, Bits: address(pin, &bytes{unsafe.StringData(v), uintptr(len(v))})}, nil
		}
		return Any{Type: TypeCString, Bits: address(pin, unsafe.StringData(v+"\x00"))}, nil
	case []int64:
		// The runtime reads a list of integers off an array of them.
		list := &Tensor{DType: Int64, Shape: []int64{int64(len(v))}, Data: unsafe.Pointer(unsafe.SliceData(v))}
		return Any{Type: TypeDLTensor, Bits: address(pin, list.pinned(pin))}, nil
	case Any:
		return v, nil
	default:
		return encodePointer(pin, arg)
	}
}

func encodePointer(pin *runtime.Pinner, arg any) (Any, error) {
	switch v := arg.(type) {
	case *Tensor:
		if v == nil {
			return Any{}, nil
		}
		return Any{Type: TypeDLTensor, Bits: address(pin, v.pinned(pin))}, nil
	case *DLTensor:
		if v == nil {
			return Any{}, nil
		}
		v.pin(pin)
		return Any{Type: TypeDLTensor, Bits: address(pin, v)}, nil
	case *Object:
		if v == nil {
			return Any{}, nil
		}
		return Any{Type: v.Type, Bits: uint64(v.address)}, nil
	}
	return Any{}, fmt.Errorf("expected a value that tvm-ffi has, got %T", arg)
}

// decode turns a result into a value of Go.
func (l *Library) decode(v *Any) (any, error) {
	switch v.Type {
	case TypeNone:
		return nil, nil
	case TypeInt:
		return int64(v.Bits), nil
	case TypeBool:
		return v.Bits != 0, nil
	case TypeFloat:
		return math.Float64frombits(v.Bits), nil
	case TypeSmallStr:
		return bytes{(*byte)(unsafe.Pointer(&v.Bits)), uintptr(v.Small)}.String(), nil
	}
	if v.Type < TypeObject {
		return nil, fmt.Errorf("the result has type %d, which is none of a value", v.Type)
	}
	object := &Object{v.Type, uintptr(v.Bits), l}
	if v.Type == TypeStr {
		defer object.Release()
		return (*bytes)(foreign(object.address + objectHeader)).String(), nil
	}
	return object, nil
}
