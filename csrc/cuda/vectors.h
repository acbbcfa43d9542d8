// 16 bytes of an array: what a thread loads and stores at once.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "opcast/device.h"

namespace opcast_ops {

constexpr float kLargest = 0x1.fffffep127f;  // of all finite floats

template <class T>
struct alignas(16) Vector {
  static constexpr int kSize = 16 / sizeof(T);
  T at[kSize];
};

// Whether all the pointers allow whole vectors. Null does: what is absent is not loaded.
inline bool Aligned(std::initializer_list<const void*> pointers) {
  uintptr_t bits = 0;
  for (const void* p : pointers) bits |= reinterpret_cast<uintptr_t>(p);
  return bits % 16 == 0;
}

// The same for rows of n elements that lie one after the other.
template <class T>
bool AlignedRows(std::initializer_list<const void*> pointers, int64_t n) {
  return Aligned(pointers) && n % Vector<T>::kSize == 0;
}

// The one rounding of a result.
template <class T, class V>
OPCAST_DEVICE T Round(V value) {
  return static_cast<T>(static_cast<float>(value));
}

// The vector that begins at element `begin` of n; zeros follow the last element.
template <class T>
OPCAST_DEVICE Vector<T> Load(const T* array, int64_t begin, int64_t n, bool aligned) {
  if (aligned && begin + Vector<T>::kSize <= n)
    return *reinterpret_cast<const Vector<T>*>(array + begin);
  Vector<T> vector;
  for (int i = 0; i < Vector<T>::kSize; ++i)
    vector.at[i] = begin + i < n ? array[begin + i] : static_cast<T>(0.0f);
  return vector;
}

template <class T>
OPCAST_DEVICE void Store(const Vector<T>& vector, T* array, int64_t begin, int64_t n,
                         bool aligned) {
  if (aligned && begin + Vector<T>::kSize <= n) {
    *reinterpret_cast<Vector<T>*>(array + begin) = vector;
    return;
  }
  for (int i = 0; i < Vector<T>::kSize; ++i) {
    if (begin + i < n) array[begin + i] = vector.at[i];
  }
}

}  // namespace opcast_ops
