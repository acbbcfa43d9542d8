// Package dtype is the one table of element types: every emitter, adaptor and check derives from it.
// A new dtype is one row; TestPlaces names the files where its values have to be known, too.
package dtype

import "strings"

// DType is one element type under the names that the layers of a collection use for it.
type DType struct {
	// Short is the name in definitions ("bf16"), Long the name in messages and in Python ("bfloat16").
	Short, Long string
	// Code and Bits are the DLPack type code and the width of one element.
	Code, Bits int
	// CPP is the C++ element type that kernels see. Where it is empty no definition can have the dtype, and arrays that have
	// it are refused by its name.
	CPP string
	// XLA is the suffix of XLA_FFI_DataType_*; empty where XLA has no such type.
	XLA string
	// View is the NumPy dtype of equal width under which an ml_dtypes array crosses DLPack; empty for native types.
	View string
	// ULP is 2 to the minus (mantissa bits): the spacing of numbers at 1.0. Zero for integers.
	ULP float64
}

// Table lists every dtype in the order of the documentation.
var Table = []DType{
	{"bool", "bool", 6, 8, "bool", "PRED", "", 0},
	{"u8", "uint8", 1, 8, "uint8_t", "U8", "", 0},
	{"u16", "uint16", 1, 16, "uint16_t", "U16", "", 0},
	{"u32", "uint32", 1, 32, "uint32_t", "U32", "", 0},
	{"u64", "uint64", 1, 64, "uint64_t", "U64", "", 0},
	{"i8", "int8", 0, 8, "int8_t", "S8", "", 0},
	{"i16", "int16", 0, 16, "int16_t", "S16", "", 0},
	{"i32", "int32", 0, 32, "int32_t", "S32", "", 0},
	{"i64", "int64", 0, 64, "int64_t", "S64", "", 0},
	{"f16", "float16", 2, 16, "opcast::f16", "F16", "", 0x1p-10},
	{"bf16", "bfloat16", 4, 16, "opcast::bf16", "BF16", "uint16", 0x1p-7},
	{"f32", "float32", 2, 32, "float", "F32", "", 0x1p-23},
	{"f64", "float64", 2, 64, "double", "F64", "", 0x1p-52},
	{"c64", "complex64", 5, 64, "opcast::c64", "C64", "", 0},
	{"c128", "complex128", 5, 128, "opcast::c128", "C128", "", 0},
	{"f8e4m3fn", "float8_e4m3fn", 10, 8, "opcast::f8e4m3fn", "F8E4M3FN", "uint8", 0x1p-3},
	{"f8e4m3fnuz", "float8_e4m3fnuz", 11, 8, "opcast::f8e4m3fnuz", "F8E4M3FNUZ", "uint8", 0x1p-3},
	{"f8e5m2", "float8_e5m2", 12, 8, "opcast::f8e5m2", "F8E5M2", "uint8", 0x1p-2},
	{"f8e5m2fnuz", "float8_e5m2fnuz", 13, 8, "opcast::f8e5m2fnuz", "F8E5M2FNUZ", "uint8", 0x1p-2},
	{"f8e8m0fnu", "float8_e8m0fnu", 14, 8, "opcast::f8e8m0fnu", "F8E8M0FNU", "uint8", 1},
	{"f4e2m1fn", "float4_e2m1fn", 17, 4, "", "F4E2M1FN", "", 0x1p-1},
	{"i4", "int4", 0, 4, "", "", "", 0},
	{"u4", "uint4", 1, 4, "", "", "", 0},
}

// Lookup returns the row with the given short name.
func Lookup(short string) (DType, bool) {
	for _, d := range Table {
		if d.Short == short {
			return d, true
		}
	}
	return DType{}, false
}

// Enumerator is the dtype's name in the C++ enum DType: "kBf16".
func (d DType) Enumerator() string { return "k" + strings.ToUpper(d.Short[:1]) + d.Short[1:] }

// StableFunction is the function of PyTorch's stable C ABI that tells the dtype's number there. It may be absent from older
// releases.
func (d DType) StableFunction() string {
	if d.Short == "f8e8m0fnu" { // which came after the others, under the ABI's new name
		return "torch_dtype_" + d.Long
	}
	return "aoti_torch_dtype_" + d.Long
}

// Inexact says whether the dtype is of floating point, real or complex: such arrays have gradients.
func (d DType) Inexact() bool { return d.ULP > 0 || d.Complex() }

// Complex says whether the dtype is of complex numbers.
func (d DType) Complex() bool { return d.Code == 5 }

// Part is the dtype of the real and of the imaginary part of complex numbers; of other numbers, their own.
func (d DType) Part() DType {
	if !d.Complex() {
		return d
	}
	return Must(map[int]string{64: "f32", 128: "f64"}[d.Bits])
}

// Widest is the dtype of 64 bits, or of two such parts, that holds what the oracle computes.
func (d DType) Widest() DType {
	if d.Complex() {
		return Must("c128")
	}
	return Must("f64")
}

// Indexes says whether the dtype is of integers that arrays are indexed with: those of 32 bits and more.
func (d DType) Indexes() bool { return d.Code <= 1 && d.Bits >= 32 }

// LookupLong returns the row with the given long name.
func LookupLong(long string) (DType, bool) {
	for _, d := range Table {
		if d.Long == long {
			return d, true
		}
	}
	return DType{}, false
}

// LookupAny returns the row that has the given name, short or long.
func LookupAny(name string) (DType, bool) {
	if d, ok := Lookup(name); ok {
		return d, true
	}
	return LookupLong(name)
}

// Must returns the row with the given short name, of a loaded definition: its names are known to be right.
func Must(short string) DType {
	d, ok := Lookup(short)
	if !ok {
		panic("dtype: no row has the name " + short)
	}
	return d
}

// LongName is the long name of the row with the given short name; empty if there is none.
func LongName(short string) string {
	d, _ := Lookup(short)
	return d.Long
}
