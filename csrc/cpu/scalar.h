// Functions of one number that loops can vectorise: no branches, no tables, no calls.
//
// Kernels compute in double and round once, so a float32 result within 4 ulp needs only a relative
// error far below 2^-24.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>

#include "opcast/minifloat.h"

namespace ops {

// condition ? a : b without a branch, for the same reason as opcast::detail::Select.
inline float Select(bool condition, float a, float b) {
  namespace bits = opcast::detail;
  return bits::FromBits(bits::Select(condition, bits::Bits(a), bits::Bits(b)));
}
inline double Select(bool condition, double a, double b) {
  const uint64_t mask = uint64_t{0} - uint64_t{condition};
  uint64_t a_bits, b_bits;
  std::memcpy(&a_bits, &a, sizeof a);
  std::memcpy(&b_bits, &b, sizeof b);
  a_bits = (a_bits & mask) | (b_bits & ~mask);
  std::memcpy(&a, &a_bits, sizeof a);
  return a;
}

// The one rounding of a result, float or double. All NaN become one: which of its operands' NaN an
// instruction hands on depends on the order that the compiler gave them, here in a vector loop and
// there in its scalar rest.
template <class T, class V>
inline T Round(V value) {
  const float rounded = static_cast<float>(value);
  return static_cast<T>(
      Select(rounded == rounded, rounded, std::numeric_limits<float>::quiet_NaN()));
}

// Added to a number below 2^51, it rounds that to an integer, which then stands in the low bits of
// the sum.
constexpr double kRounder = 0x1.8p52;

// 2^n where `sum` is n + kRounder and n a normal exponent.
inline double PowerOfTwo(double sum) {
  uint64_t bits;
  std::memcpy(&bits, &sum, sizeof bits);
  bits = (bits + 1023) << 52;
  std::memcpy(&sum, &bits, sizeof bits);
  return sum;
}

// e^x with a relative error below 1e-11, or 0, denormal or infinite where that is the double
// nearest to it.
//
// x = n ln 2 + r with |r| < 0.35; e^r is the Taylor polynomial of degree 9 (remainder r^10 / 10! <
// 7e-12), and 2^n is applied in two factors, since n leaves the range of normal exponents before
// the result does.
inline double Exp(double x) {
  constexpr double kLog2E = 0x1.71547652b82fep0, kLn2High = 0x1.62e42fefa39efp-1,
                   kLn2Low = 0x1.abc9e3b39803fp-56;
  constexpr double kEnd = 800;  // beyond, the result is 0 or infinity all the same
  x = Select(__builtin_fabs(x) > kEnd, __builtin_copysign(kEnd, x), x);
  const double n = x * kLog2E + kRounder - kRounder;
  const double r = x - n * kLn2High - n * kLn2Low;
  double y = 1.0 / 362880;
  y = y * r + 1.0 / 40320;
  y = y * r + 1.0 / 5040;
  y = y * r + 1.0 / 720;
  y = y * r + 1.0 / 120;
  y = y * r + 1.0 / 24;
  y = y * r + 1.0 / 6;
  y = y * r + 1.0 / 2;
  y = y * r + 1;
  y = y * r + 1;
  const double half = n * 0.5 + kRounder;
  return y * PowerOfTwo(half) * PowerOfTwo(n - (half - kRounder) + kRounder);
}

// x / (1 + e^-x).
inline double Silu(double x) { return x / (1 + Exp(-x)); }

}  // namespace ops
