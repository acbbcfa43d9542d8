// What the kernels of rope and of its gradient are about, on every device.
#pragma once

#include <cstdint>

#include "common/integer_arrays.h"

namespace opcast_ops {

// The heads of all tokens of one array, and where the turned ones go, which lie one after the
// other.
template <class T>
struct Heads {
  const T* from;
  int64_t token_stride, head_stride, count;
  T* to;
};

template <class C>
struct Turns {
  Numbers positions;
  int64_t count;    // positions that the cache has
  const C* cache;   // `width` numbers for each of them: cosines, then sines
  int64_t width;    // columns that are turned
  bool interleave;  // whether partners are neighbours
  bool back;        // whether by the negative angle

  // The cosines of a token. A position that the definition forbids leads to wrong results, but not
  // out of the cache.
  OPCAST_HOST_DEVICE const C* Cosines(int64_t token) const {
    const int64_t position = positions[token];
    const int64_t inside = position < 0 ? 0 : position < count ? position : count - 1;
    return cache + inside * width;
  }
};

}  // namespace opcast_ops
