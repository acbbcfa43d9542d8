// Values of tvm-ffi that this library holds.
#pragma once

#include <tvm/ffi/c_api.h>

#include <string_view>

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

}  // namespace opcast
