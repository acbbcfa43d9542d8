// The numbers that quantised results and their scales have.
#pragma once

#include <cmath>
#include <cstdint>

#include "opcast/fp8.h"

namespace opcast_ops {

// The largest: what the largest magnitude of a row becomes. The least of int8 is not used.
template <class Q>
constexpr float kMost = 127;
template <>
inline constexpr float kMost<opcast::f8e4m3fn> = 448;
template <>
inline constexpr float kMost<opcast::f8e4m3fnuz> = 240;

// The least power of two that is no less than a positive number. Infinity and NaN stay.
OPCAST_HOST_DEVICE inline float PowerOfTwo(float x) {
  constexpr uint32_t kFirstNormal = 1 << 23, kExponent = 0x7f800000;
  const uint32_t bits = opcast::detail::Bits(x);
  if (bits >= kExponent) return x;
  if (bits >= kFirstNormal) return opcast::detail::FromBits((bits + kFirstNormal - 1) & kExponent);
  uint32_t power = 1;
  while (power < bits) power <<= 1;
  return opcast::detail::FromBits(power);
}

// What scales are made of besides the largest magnitude.
struct ScaleRule {
  const float* bound = nullptr;  // of the magnitude; may be null
  bool power_of_two = false;

  // The scale that makes a largest magnitude, or the bound if that is less, the largest of Q.
  template <class Q, class V>
  OPCAST_HOST_DEVICE float Scale(V largest) const {
    if (bound != nullptr && largest == largest && !(largest <= *bound)) largest = *bound;
    const float scale = static_cast<float>(largest / static_cast<V>(kMost<Q>));
    return scale == 0 ? 1 : power_of_two ? PowerOfTwo(scale) : scale;
  }
};

}  // namespace opcast_ops
