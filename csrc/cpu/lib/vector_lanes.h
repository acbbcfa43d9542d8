// The numbers of one vector as an array, for loops that compilers turn into single instructions:
// such an array then stays in a register.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "cpu/lib/float_conversion.h"
#include "cpu/lib/float_vectors.h"

namespace opcast_ops {

// Copies the numbers of one vector. A loop would become copies of 16 bytes for AVX2 as well, and a
// load of 32 bytes has to wait until both have reached the cache.
template <int kWidth>
inline void Copy(const float* from, float* to) {
  Floats<kWidth> all;
  all.Load(from);
  all.Store(to);
}

template <int kWidth, class V = float>
struct Lanes {
  static constexpr int kCount = kWidth / static_cast<int>(sizeof(float));

  alignas(kWidth) V numbers[kCount];

  // Rounds to nearest, ties to even; all NaN become one.
  template <class T, class Nan = AnyNan>
  void Store(T* to, Nan nan = {}) const {
    if constexpr (!std::is_same_v<T, float>) {
      Narrow<kWidth>(numbers, to, kCount, nan);
#if defined(__x86_64__)
    } else if constexpr (Nan::value && kWidth == 64) {
      NarrowBlock(numbers, to, Wide<kWidth>(), nan);
#endif
    } else if constexpr (Nan::value) {
#pragma GCC unroll 1
      for (int j = 0; j < kCount; ++j) to[j] = Round<float>(numbers[j]);
    } else {
      Copy<kWidth>(numbers, to);
    }
  }

  // The same for the first n numbers.
  template <class T, class Nan = AnyNan>
  void StoreSome(T* to, int64_t n, Nan nan = {}) const {
    if (n == kCount) return Store(to, nan);
    T all[kCount];
    Store(all, nan);
    std::memcpy(to, all, static_cast<size_t>(n) * sizeof(T));
  }

  // The first n numbers as they are, where they are no results yet.
  void Keep(V* to, int64_t n) const {
    if (n == kCount) return Copy<kWidth>(numbers, to);
    std::memcpy(to, numbers, static_cast<size_t>(n) * sizeof(V));
  }
};

// Doubles stay what they are; all other numbers become floats.
template <class T>
using Widened = std::conditional_t<std::is_same_v<T, double>, double, float>;

template <int kWidth, class T>
inline Lanes<kWidth, Widened<T>> Load(const T* from) {
  Lanes<kWidth, Widened<T>> lanes;
  if constexpr (std::is_same_v<T, float>) {
    Copy<kWidth>(from, lanes.numbers);
  } else if constexpr (std::is_same_v<T, double>) {
#pragma GCC unroll 1
    for (int j = 0; j < lanes.kCount; ++j) lanes.numbers[j] = from[j];
  } else {
    Widen<kWidth>(from, lanes.numbers, lanes.kCount);
  }
  return lanes;
}

// The same, as floats or doubles.
template <int kWidth, class V, class T>
inline Lanes<kWidth, V> LoadAs(const T* from) {
  const auto loaded = Load<kWidth>(from);
  if constexpr (std::is_same_v<V, Widened<T>>) {
    return loaded;
  } else {
    Lanes<kWidth, V> lanes;
#pragma GCC unroll 1
    for (int j = 0; j < lanes.kCount; ++j) lanes.numbers[j] = loaded.numbers[j];
    return lanes;
  }
}

// The first n numbers, and zeros behind them.
template <int kWidth, class T>
inline Lanes<kWidth, Widened<T>> LoadSome(const T* from, int64_t n) {
  if (n == Lanes<kWidth>::kCount) return Load<kWidth>(from);
  T all[Lanes<kWidth>::kCount] = {};
  std::memcpy(all, from, static_cast<size_t>(n) * sizeof(T));
  return Load<kWidth>(all);
}

}  // namespace opcast_ops
