// What can be read off the frame of an XLA call, and room for what is made of it.
#pragma once

#include <cstring>
#include <memory>

#include "xla_call.h"

namespace opcast_jax {

// Room for so many items: on the stack for a few, else on the heap.
template <class T, int kFew>
class Room {
 public:
  void Reserve(int64_t count) {
    if (count <= kFew) return;
    more_.reset(new T[static_cast<size_t>(count)]);
    size_ = count;
  }
  int64_t size() const { return size_; }
  T& operator[](int64_t i) { return more_ ? more_[i] : few_[i]; }
  const T& operator[](int64_t i) const { return more_ ? more_[i] : few_[i]; }

 private:
  T few_[kFew];
  std::unique_ptr<T[]> more_;
  int64_t size_ = kFew;
};

// The number of dims of all arrays.
inline int64_t Dims(const XLA_FFI_CallFrame& frame) {
  int64_t dims = 0;
  for (int64_t i = 0; i < frame.args.size; ++i) {
    dims += static_cast<const XLA_FFI_Buffer*>(frame.args.args[i])->rank;
  }
  for (int64_t i = 0; i < frame.rets.size; ++i) {
    dims += static_cast<const XLA_FFI_Buffer*>(frame.rets.rets[i])->rank;
  }
  return dims;
}

// The type that an element type of XLA is in DLPack; false if it is none.
inline bool Type(XLA_FFI_DataType type, DLDataType* out) {
  for (int i = 0; i < kDTypeCount; ++i) {
    if (kDTypes[i].xla == type) {
      *out = kDTypes[i].dlpack;
      return true;
    }
  }
  return false;
}

// Puts the contents of a mutated input where the op overwrites them, and says what is wrong, if
// anything is. XLA gives one buffer for both where the program says so, as the adaptor does; this
// is for programs that do not.
inline const char* Carry(const XLA_FFI_Buffer& from, const XLA_FFI_Buffer& to, DLDevice device) {
  constexpr const char* kDiffer = "a mutated input differs from its result";
  DLDataType type;
  if (from.dtype != to.dtype || from.rank != to.rank || !Type(from.dtype, &type)) return kDiffer;
  size_t bytes = (type.bits + 7) / 8;
  for (int64_t i = 0; i < from.rank; ++i) {
    if (from.dims[i] != to.dims[i]) return kDiffer;
    bytes *= static_cast<size_t>(from.dims[i]);
  }
  if (from.data == to.data || bytes == 0) return nullptr;
  if (device.device_type != kDLCPU) return "a mutated input and its result lie apart";
  std::memmove(to.data, from.data, bytes);
  return nullptr;
}

// The number of an attribute, or -1.
inline int Find(const XLA_FFI_Attrs& attrs, const char* name) {
  const size_t length = std::strlen(name);
  for (int i = 0; i < attrs.size; ++i) {
    const XLA_FFI_ByteSpan* have = attrs.names[i];
    if (have->len == length && std::memcmp(have->ptr, name, length) == 0) return i;
  }
  return -1;
}

}  // namespace opcast_jax
