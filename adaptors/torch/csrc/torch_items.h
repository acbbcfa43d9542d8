// Values of tvm-ffi, and items of which most calls have few.
#pragma once

#include <tvm/ffi/c_api.h>

#include <cstddef>
#include <memory>

namespace opcast_torch {

inline TVMFFIAny Value(int32_t type) {
  TVMFFIAny value = {};
  value.type_index = type;
  return value;
}

inline TVMFFIAny Pointer(int32_t type, void* pointer) {
  TVMFFIAny value = Value(pointer == nullptr ? kTVMFFINone : type);
  value.v_ptr = pointer;
  return value;
}

// So many items as a call needs: few stand where the call does, more on the heap.
template <class T, size_t kFew>
class Items {
 public:
  Items() = default;
  Items(const Items&) = delete;
  Items& operator=(const Items&) = delete;
  ~Items() {
    if (!many_) std::destroy_n(first_, size_);
  }

  // Makes so many, once.
  void Make(size_t count) {
    if (count > kFew) {
      many_.reset(new T[count]());
      first_ = many_.get();
    } else {
      first_ = reinterpret_cast<T*>(few_);
      std::uninitialized_value_construct_n(first_, count);
    }
    size_ = count;
  }
  size_t size() const { return size_; }
  T* begin() { return first_; }
  T* end() { return first_ + size_; }
  const T* begin() const { return first_; }
  T& operator[](size_t i) { return first_[i]; }
  const T& operator[](size_t i) const { return first_[i]; }

 private:
  alignas(T) unsigned char few_[sizeof(T) * kFew];  // raw: most of it is not used
  std::unique_ptr<T[]> many_;
  T* first_ = nullptr;
  size_t size_ = 0;
};

}  // namespace opcast_torch
