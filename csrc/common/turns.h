// What the kernels of rope and of its gradient are about, on every device.
#pragma once

#include <cstdint>

#include "opcast/minifloat.h"

namespace opcast_ops {

// The heads of all tokens of one array, and where the turned ones go, which lie one after the
// other.
template <class T>
struct Heads {
  const T* from;
  int64_t token_stride, head_stride, count;
  T* to;
};

// Integers of 64 or 32 bits. Whoever reads few of them needs no code of its own for each.
struct Positions {
  const void* numbers;
  bool are_long;

  OPCAST_HOST_DEVICE int64_t operator[](int64_t i) const {
    return are_long ? static_cast<const int64_t*>(numbers)[i]
                    : static_cast<const int32_t*>(numbers)[i];
  }
};

struct Turns {
  Positions positions;
  int64_t count;       // positions that the cache has
  const float* cache;  // `width` numbers for each of them: cosines, then sines
  int64_t width;       // columns that are turned
  bool interleave;     // whether partners are neighbours
  bool back;           // whether by the negative angle

  // The cosines of a token. A position that the definition forbids leads to wrong results, but not
  // out of the cache.
  OPCAST_HOST_DEVICE const float* Cosines(int64_t token) const {
    const int64_t position = positions[token];
    const int64_t inside = position < 0 ? 0 : position < count ? position : count - 1;
    return cache + inside * width;
  }
};

}  // namespace opcast_ops
