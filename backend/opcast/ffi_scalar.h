// An input without dims, which a caller may give as a number.
#pragma once

#include "opcast/ffi.h"
#include "opcast/scalar.h"

namespace opcast {

// The array that stands for a number: without dims, in the memory of the host.
struct HostNumber {
  // Leaves `array` as it is if the argument is no number; throws if that is no array either, or if
  // the dtype does not have the number.
  HostNumber(const Call& call, int index, const char* name, DType dtype);

  alignas(8) unsigned char raw[8] = {};
  DLTensor number{};
  const DLTensor* array = nullptr;  // what was given, or `number`; null if it is absent
};

// The dtype of the first of some arguments that is an array; none if all are numbers.
inline DType DTypeOfAny(const Call& call, std::initializer_list<int> places) {
  for (int place : places) {
    const DLTensor* t = AsTensor(call.args()[place]);
    if (t != nullptr) return static_cast<DType>(t->dtype.code << 8 | t->dtype.bits);
  }
  return kNoDType;
}

// A dtype, or the first of those that are allowed if it is not: the rules of its array say so.
inline DType Among(DType dtype, std::initializer_list<DType> allowed) {
  for (DType one : allowed) {
    if (one == dtype) return dtype;
  }
  return *allowed.begin();
}

// It reads as the array that it is, or as one on whatever device the others are.
class ScalarInput : private HostNumber, public Tensor {
 public:
  ScalarInput(const Call& call, int index, const char* name, DType dtype)
      : HostNumber(call, index, name, dtype), Tensor(call, name, array, array == &number) {}
  // As kernels take it.
  template <class T = void>
  Scalar<T> scalar() const {
    return Scalar<T>(everywhere() ? Scalar<void>(nullptr, raw) : Scalar<void>(data(), nullptr));
  }
};

}  // namespace opcast
