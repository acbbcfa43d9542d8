// Values of tvm-ffi that this library holds.
#pragma once

#include <tvm/ffi/c_api.h>

#include <cstddef>
#include <string_view>
#include <vector>

#include "opcast/ffi.h"

namespace opcast {

// A value, with a reference if it is an object.
class Owned {
 public:
  Owned() = default;
  // Takes over a reference.
  Owned(int32_t type, TVMFFIObjectHandle object) {
    value.type_index = type;
    value.v_obj = static_cast<TVMFFIObject*>(object);
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  Owned(Owned&& other) noexcept : value(other.value) { other.value = {}; }
  ~Owned() {
    if (value.type_index >= kTVMFFIStaticObjectBegin) TVMFFIObjectDecRef(value.v_obj);
  }
  // Gives the reference away.
  TVMFFIAny Release() {
    const TVMFFIAny given = value;
    value = {};
    return given;
  }

  TVMFFIAny value{};
};

inline TVMFFIAny IntValue(int64_t number) {
  TVMFFIAny v{};
  v.type_index = kTVMFFIInt;
  v.v_int64 = number;
  return v;
}

inline TVMFFIAny BoolValue(bool truth) {
  TVMFFIAny v{};
  v.type_index = kTVMFFIBool;
  v.v_int64 = truth;
  return v;
}

// A string of tvm-ffi.
inline Owned StringValue(std::string_view text) {
  const TVMFFIByteArray bytes{text.data(), text.size()};
  Owned v;
  if (TVMFFIStringFromByteArray(&bytes, &v.value) != 0) throw Raised();
  return v;
}

// An array of tvm-ffi that has these items.
inline Owned ArrayOf(const Owned* items, size_t count) {
  static const TVMFFIObjectHandle make = [] {
    const std::string_view name = "ffi.Array";
    const TVMFFIByteArray bytes{name.data(), name.size()};
    TVMFFIObjectHandle found = nullptr;
    if (TVMFFIFunctionGetGlobal(&bytes, &found) != 0) throw Raised();
    return found;
  }();
  std::vector<TVMFFIAny> values;
  for (size_t i = 0; i < count; ++i) values.push_back(items[i].value);
  Owned array;
  if (TVMFFIFunctionCall(make, values.data(), static_cast<int32_t>(count), &array.value) != 0)
    throw Raised();
  return array;
}

// Drops the error that was raised on this thread, if there is one.
inline void ForgetRaised() {
  TVMFFIObjectHandle error = nullptr;
  TVMFFIErrorMoveFromRaised(&error);
  if (error != nullptr) TVMFFIObjectDecRef(error);
}

// Whether an error is raised on this thread.
inline bool IsRaised() {
  TVMFFIObjectHandle error = nullptr;
  TVMFFIErrorMoveFromRaised(&error);
  if (error == nullptr) return false;
  TVMFFIErrorSetRaised(error);
  TVMFFIObjectDecRef(error);
  return true;
}

}  // namespace opcast
