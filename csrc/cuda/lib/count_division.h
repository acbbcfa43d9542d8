// Division of counts, which mostly have 32 bits: that of 64 bits is a long subroutine on a GPU.
#pragma once

#include <cstdint>

#include "opcast/device.h"

namespace opcast_ops {

struct Divided {
  int64_t quotient, rest;
};

// n / by and what is left, for n >= 0 and by > 0.
OPCAST_DEVICE Divided Divide(int64_t n, int64_t by) {
  if ((static_cast<uint64_t>(n | by) >> 32) != 0) return {n / by, n % by};
  const uint32_t quotient = static_cast<uint32_t>(n) / static_cast<uint32_t>(by);
  return {quotient, static_cast<uint32_t>(n) - quotient * static_cast<uint32_t>(by)};
}

}  // namespace opcast_ops
