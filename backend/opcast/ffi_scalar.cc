#include "opcast/ffi_scalar.h"

#include <cstring>
#include <limits>
#include <type_traits>

namespace opcast {
namespace {

// An argument that may be a number, and where it goes.
struct Wanted {
  const Call& call;
  int index;
  const char* name;
  unsigned char* bytes;

  const TVMFFIAny& value() const { return call.args()[index]; }
};

template <class T>
void Put(const Wanted& wanted, T value) {
  std::memcpy(wanted.bytes, &value, sizeof value);
}

template <class T>
void Whole(const Wanted& wanted) {
  using Limits = std::numeric_limits<T>;
  const int64_t value = wanted.call.Int(wanted.index, wanted.name);
  wanted.call.AtLeast(wanted.name, value, static_cast<int64_t>(Limits::min()));
  if (sizeof(T) < sizeof value || std::is_signed_v<T>) {
    wanted.call.AtMost(wanted.name, value, static_cast<int64_t>(Limits::max()));
  }
  Put(wanted, static_cast<T>(value));
}

template <class T>
void Real(const Wanted& wanted) {
  const double value = wanted.call.Float(wanted.index, wanted.name);
  if constexpr (std::is_same_v<T, double>) {
    Put(wanted, value);
  } else {
    Put(wanted, static_cast<T>(static_cast<float>(value)));
  }
}

// Writes the number as one of the dtype.
void Convert(const Wanted& wanted, DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return Put(wanted, wanted.call.Bool(wanted.index, wanted.name));
    case DType::kU8:
      return Whole<uint8_t>(wanted);
    case DType::kU16:
      return Whole<uint16_t>(wanted);
    case DType::kU32:
      return Whole<uint32_t>(wanted);
    case DType::kU64:
      return Whole<uint64_t>(wanted);
    case DType::kI8:
      return Whole<int8_t>(wanted);
    case DType::kI16:
      return Whole<int16_t>(wanted);
    case DType::kI32:
      return Whole<int32_t>(wanted);
    case DType::kI64:
      return Whole<int64_t>(wanted);
    case DType::kF16:
      return Real<f16>(wanted);
    case DType::kBf16:
      return Real<bf16>(wanted);
    case DType::kF32:
      return Real<float>(wanted);
    case DType::kF64:
      return Real<double>(wanted);
    case DType::kF8e4m3fn:
      return Real<f8e4m3fn>(wanted);
    case DType::kF8e4m3fnuz:
      return Real<f8e4m3fnuz>(wanted);
    case DType::kF8e5m2:
      return Real<f8e5m2>(wanted);
    case DType::kF8e5m2fnuz:
      return Real<f8e5m2fnuz>(wanted);
    case DType::kF8e8m0fnu:
      return Real<f8e8m0fnu>(wanted);
    default:  // of an input whose dtype is refused later
      return;
  }
}

bool IsNumber(const TVMFFIAny& v) {
  return v.type_index == kTVMFFIInt || v.type_index == kTVMFFIBigInt ||
         v.type_index == kTVMFFIFloat || v.type_index == kTVMFFIBool;
}

// The word for a number of the dtype, in errors.
const char* Word(DType dtype) {
  const int code = static_cast<int>(dtype) >> 8;
  if (code == kDLBool) return "DLPack tensor or bool";
  return code == kDLInt || code == kDLUInt ? "DLPack tensor or int" : "DLPack tensor or float";
}

}  // namespace

HostNumber::HostNumber(const Call& call, int index, const char* name, DType dtype)
    : array(AsTensor(call.args()[index])) {
  if (array != nullptr || !call.Given(index)) return;
  if (!IsNumber(call.args()[index])) call.WrongType(index, name, Word(dtype));
  Convert({call, index, name, raw}, dtype);
  number = {raw, {kDLCPU, 0}, 0, DataType(dtype), nullptr, nullptr, 0};
  array = &number;
  call.Default(index, &number);
}

}  // namespace opcast
