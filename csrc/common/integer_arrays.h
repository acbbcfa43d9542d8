// Integers of 64 or 32 bits, for kernels that read few of them and need no code of their own for
// each: positions, targets, slots.
#pragma once

#include <cstdint>

#include "opcast/minifloat.h"

namespace opcast_ops {

struct Numbers {
  const void* from;
  bool are_long;  // int64, else int32

  OPCAST_HOST_DEVICE int64_t operator[](int64_t i) const {
    return are_long ? static_cast<const int64_t*>(from)[i] : static_cast<const int32_t*>(from)[i];
  }
};

}  // namespace opcast_ops
