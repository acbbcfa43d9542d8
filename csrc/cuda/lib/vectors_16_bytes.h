// 16 bytes of an array: what a thread loads and stores at once, and computes with as floats.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <type_traits>

#include "opcast/device.h"

namespace opcast_ops {

constexpr float kLargest = 0x1.fffffep127f;  // of all finite floats

// Whether numbers of a type have squares outside of float's range, and products with others.
template <class T>
constexpr bool kWide = !std::is_same_v<T, opcast::f16>;

template <class T>
struct alignas(16) Vector {
  static constexpr int kSize = 16 / sizeof(T);
  T at[kSize];
};

// The elements of a Vector<T>.
template <class T>
struct Floats {
  static constexpr int kSize = Vector<T>::kSize;
  float at[kSize];
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

template <class T>
OPCAST_DEVICE Floats<T> Widen(const Vector<T>& vector) {
  Floats<T> floats;
  OPCAST_UNROLL
  for (int i = 0; i < Vector<T>::kSize; ++i) floats.at[i] = static_cast<float>(vector.at[i]);
  return floats;
}

// The one rounding of results.
template <class T>
OPCAST_DEVICE Vector<T> Narrow(const Floats<T>& floats) {
  Vector<T> vector;
  OPCAST_UNROLL
  for (int i = 0; i < Vector<T>::kSize; i += 2)
    opcast::Narrow(floats.at[i], floats.at[i + 1], &vector.at[i]);
  return vector;
}

// The vector that begins at element `begin` of n; zeros follow the last element. Whole vectors are
// aligned and have no element beyond the last.
template <bool kWhole, class T>
OPCAST_DEVICE Vector<T> Load(const T* array, int64_t begin, int64_t n) {
  if constexpr (kWhole) {
    return *reinterpret_cast<const Vector<T>*>(array + begin);
  } else {
    Vector<T> vector;
    OPCAST_UNROLL
    for (int i = 0; i < Vector<T>::kSize; ++i)
      vector.at[i] = begin + i < n ? array[begin + i] : static_cast<T>(0.0f);
    return vector;
  }
}

// The numbers, as many as a Vector<T> has, from element `begin` on of an array that may be float32
// beside a T of 16 bits. A null pointer stands for zeros.
template <class T, bool kWhole, class W>
OPCAST_DEVICE Floats<T> LoadFloats(const W* array, int64_t begin, int64_t n) {
  constexpr int kStep = Vector<W>::kSize < Floats<T>::kSize ? Vector<W>::kSize : Floats<T>::kSize;
  Floats<T> floats{};
  if (array == nullptr) return floats;
  OPCAST_UNROLL
  for (int i = 0; i < Floats<T>::kSize; i += kStep) {
    const Floats<W> part = Widen(Load<kWhole>(array, begin + i, n));
    OPCAST_UNROLL
    for (int e = 0; e < kStep; ++e) floats.at[i + e] = part.at[e];
  }
  return floats;
}

template <bool kWhole, class T>
OPCAST_DEVICE void Store(const Vector<T>& vector, T* array, int64_t begin, int64_t n) {
  if constexpr (kWhole) {
    *reinterpret_cast<Vector<T>*>(array + begin) = vector;
  } else {
    OPCAST_UNROLL
    for (int i = 0; i < Vector<T>::kSize; ++i) {
      if (begin + i < n) array[begin + i] = vector.at[i];
    }
  }
}

}  // namespace opcast_ops
