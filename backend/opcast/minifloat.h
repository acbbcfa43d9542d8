// Bit-level conversion between float and narrower binary formats of kMantissa stored mantissa bits
// and exponent bias kBias.
//
// Narrowing rounds to nearest, ties to even. No step reads or makes a denormal float, so results do
// not depend on flush-to-zero modes, and no step branches, so loops over the conversions vectorise.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__CUDACC__) || defined(__HIPCC__)
#define OPCAST_HOST_DEVICE __host__ __device__
#else
#define OPCAST_HOST_DEVICE
#endif

namespace opcast::detail {

constexpr uint32_t kFloatInf = 0x7f800000;
constexpr uint32_t kQuietNan = 0x7fc00000;

OPCAST_HOST_DEVICE inline uint32_t Bits(float value) {
  uint32_t bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  return bits;
}

OPCAST_HOST_DEVICE inline float FromBits(uint32_t bits) {
  float value;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}

// condition ? a : b without a branch: the compiler may not compute an untaken floating-point
// operand by itself, since the computation might trap, and a loop with a branch does not vectorise.
OPCAST_HOST_DEVICE inline uint32_t Select(bool condition, uint32_t a, uint32_t b) {
  const uint32_t mask = 0u - uint32_t{condition};
  return (a & mask) | (b & ~mask);
}

// Rounds |x|, given as float bits, to the narrow format. Exponents above the format's range come
// out as if it went on.
template <int kMantissa, int kBias>
OPCAST_HOST_DEVICE inline uint32_t Narrow(uint32_t magnitude) {
  constexpr int kShift = 23 - kMantissa;
  constexpr uint32_t kRebias = uint32_t{127 - kBias} << 23;
  constexpr uint32_t kSmallestNormal = uint32_t{128 - kBias} << 23;
  // Added to a value below the smallest normal, this one makes the sum's last bit the narrow
  // format's last bit.
  constexpr uint32_t kAligner = uint32_t{128 - kBias + kShift} << 23;
  const uint32_t half_less_one = (1u << (kShift - 1)) - 1;
  const uint32_t even = magnitude >> kShift & 1;
  const uint32_t normal = (magnitude - kRebias + half_less_one + even) >> kShift;
  const uint32_t denormal = Bits(FromBits(magnitude) + FromBits(kAligner)) - kAligner;
  return Select(magnitude < kSmallestNormal, denormal, normal);
}

// Widens a finite magnitude of the narrow format to float bits, exactly.
template <int kMantissa, int kBias>
OPCAST_HOST_DEVICE inline uint32_t Widen(uint32_t magnitude) {
  constexpr int kShift = 23 - kMantissa;
  constexpr uint32_t kRebias = uint32_t{127 - kBias} << 23;
  constexpr uint32_t kSmallestNormal = uint32_t{128 - kBias} << 23;
  const uint32_t fraction = magnitude << kShift;
  const uint32_t denormal = Bits(FromBits(fraction + kSmallestNormal) - FromBits(kSmallestNormal));
  return Select(magnitude < 1u << kMantissa, denormal, fraction + kRebias);
}

}  // namespace opcast::detail
