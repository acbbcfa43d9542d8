// Numbers of four bits, two to a byte, the lower four bits first.
#pragma once

#include <cstdint>

#include "opcast/fp8.h"

namespace opcast_ops {

// The number that a code stands for.
OPCAST_HOST_DEVICE inline float E2m1(uint32_t code) {
  opcast::f4e2m1fn number;
  number.bits = static_cast<uint8_t>(code);
  return number;
}

// The code at an element of an array.
OPCAST_HOST_DEVICE inline uint32_t CodeAt(const uint8_t* codes, int64_t element) {
  return codes[element >> 1] >> (element & 1) * 4 & 15;
}

}  // namespace opcast_ops
