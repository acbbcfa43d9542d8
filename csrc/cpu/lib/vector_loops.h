// Going over a row one vector after the other, where the last one may not be full.
#pragma once

#include <cstdint>
#include <type_traits>

#include "cpu/lib/vector_lanes.h"

namespace opcast_ops {

// Calls body(i, count) for the places i of n elements at which parts of kCount begin, where count
// is how many there are: a constant, but for the last part.
template <int64_t kCount, class Body>
inline void ForParts(int64_t n, const Body& body) {
  int64_t i = 0;
  for (; i + kCount <= n; i += kCount) body(i, std::integral_constant<int64_t, kCount>());
  if (i < n) body(i, n - i);
}

// The same for vectors of floats.
template <int kWidth, class Body>
inline void ForLanes(int64_t n, const Body& body) {
  ForParts<Lanes<kWidth>::kCount>(n, body);
}

}  // namespace opcast_ops
