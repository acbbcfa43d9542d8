package tvmffi

import (
	"runtime"
	"unsafe"
)

// Device is a DLPack device.
type Device struct{ Type, ID int32 }

// Kinds are DLPack's numbers of kinds of devices, by their names in messages.
var Kinds = map[string]int32{"cpu": 1, "cuda": 2, "rocm": 10}

// CPU is the host.
var CPU = Device{Type: 1}

// DType is a DLPack dtype.
type DType struct {
	Code, Bits uint8
	Lanes      uint16
}

// Int64 and Float32 are the dtypes of []int64 and []float32.
var (
	Int64   = DType{0, 64, 1}
	Float32 = DType{2, 32, 1}
)

// DLTensor is the C struct of that name. Its pointers may be null and its numbers wild: that is for the library to
// refuse.
type DLTensor struct {
	Data       unsafe.Pointer
	Device     Device
	Rank       int32
	DType      DType
	Shape      *int64
	Strides    *int64
	ByteOffset uint64
}

// pin keeps what the struct points to in place; memory that is not Go's stays anyway.
func (t *DLTensor) pin(pin *runtime.Pinner) {
	for _, p := range []unsafe.Pointer{t.Data, unsafe.Pointer(t.Shape), unsafe.Pointer(t.Strides)} {
		if p != nil {
			pin.Pin(p)
		}
	}
}

// Tensor is an array in memory of the caller: Go's, mapped, or of a device.
type Tensor struct {
	Data unsafe.Pointer
	// Device is the CPU if it is zero.
	Device Device
	DType  DType
	Shape  []int64
	// Strides count elements; nil stands for a dense array.
	Strides []int64
	// ByteOffset is where the first element lies behind Data.
	ByteOffset uint64
}

// Of is a dense array on the CPU over the elements of a slice.
func Of[T any](elements []T, dtype DType, shape ...int64) *Tensor {
	return &Tensor{Data: unsafe.Pointer(unsafe.SliceData(elements)), DType: dtype, Shape: shape}
}

// pinned is the C struct of the tensor with pinned memory.
func (t *Tensor) pinned(pin *runtime.Pinner) *DLTensor {
	d := &DLTensor{
		Data: t.Data, Device: t.Device, Rank: int32(len(t.Shape)), DType: t.DType,
		Shape: unsafe.SliceData(t.Shape), Strides: unsafe.SliceData(t.Strides), ByteOffset: t.ByteOffset,
	}
	if d.Device == (Device{}) {
		d.Device = CPU
	}
	d.pin(pin)
	return d
}
