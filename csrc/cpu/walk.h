// Going over a row one vector after the other, where the last one may not be full.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "lanes.h"

namespace opcast_ops {

// Calls body(i, count) for the places i of n elements at which blocks of kCount begin, where count
// is how many there are: a constant, but for the last block.
template <int64_t kCount, class Body>
inline void ForBlocks(int64_t n, Body body) {
  int64_t i = 0;
  for (; i + kCount <= n; i += kCount) body(i, std::integral_constant<int64_t, kCount>());
  if (i < n) body(i, n - i);
}

// The same for vectors of floats.
template <int kWidth, class Body>
inline void ForLanes(int64_t n, Body body) {
  ForBlocks<Lanes<kWidth>::kCount>(n, body);
}

// What ForLanes calls its body with.
template <int kWidth, class T, class Count>
inline Lanes<kWidth, Widened<T>> Load(const T* from, Count count) {
  if constexpr (std::is_same_v<Count, int64_t>)
    return LoadSome<kWidth>(from, count);
  else
    return Load<kWidth>(from);
}
template <int kWidth, class T, class Count, class Nan = AnyNan>
inline void Store(const Lanes<kWidth>& lanes, T* to, Count count, Nan nan = {}) {
  if constexpr (std::is_same_v<Count, int64_t>)
    lanes.StoreSome(to, count, nan);
  else
    lanes.Store(to, nan);
}
// The same for numbers that are no results yet: neither rounded nor looked at.
template <int kWidth, class V>
inline void Keep(const Lanes<kWidth, V>& lanes, V* to, int64_t count) {
  std::memcpy(to, lanes.numbers, static_cast<size_t>(count) * sizeof(V));
}

}  // namespace opcast_ops
