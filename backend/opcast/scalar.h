// Inputs without dims, which a caller may give as numbers.
#pragma once

#include <cstdint>

#include "opcast/minifloat.h"

namespace opcast {

// An input without dims: `*args.scale` is its value. Kernels for GPUs take it as it is and read it
// there: it is a number that the caller gave, or lies in the device's memory.
template <class T>
class Scalar;

// One whose dtype is a variable of the definition. Visit makes it a Scalar of a type.
template <>
class Scalar<void> {
 public:
  Scalar() = default;
  Scalar(const void* at, const void* number) : at_(at) {
    if (number != nullptr) __builtin_memcpy(&number_, number, sizeof number_);
    given_ = at != nullptr || number != nullptr;
  }
  // Whether it is given, if it is optional.
  OPCAST_HOST_DEVICE explicit operator bool() const { return given_; }
  // Where it is; null if it is not given. A kernel for a GPU asks on the device.
  OPCAST_HOST_DEVICE const void* data() const { return at_ != nullptr || !given_ ? at_ : &number_; }
  // Its address, for conditions on alignment: 0 for a number, which is read wherever it is.
  uintptr_t Address() const { return reinterpret_cast<uintptr_t>(at_); }

 protected:
  const void* at_ = nullptr;  // null for a number
  uint64_t number_ = 0;       // its bytes
  bool given_ = false;
};

template <class T>
class Scalar : public Scalar<void> {
 public:
  Scalar() = default;
  explicit Scalar(const Scalar<void>& scalar) : Scalar<void>(scalar) {}
  OPCAST_HOST_DEVICE T operator*() const {
    T value;
    __builtin_memcpy(&value, data(), sizeof value);
    return value;
  }
};

// The address of an argument, whose alignment a kernel may have a condition on.
inline uintptr_t Address(const void* array) { return reinterpret_cast<uintptr_t>(array); }
inline uintptr_t Address(const Scalar<void>& scalar) { return scalar.Address(); }

}  // namespace opcast
