// Functions of one number that loops can vectorise: no branches, no tables, no calls.
//
// Kernels compute in double and round once, so a float32 result within 4 ulp needs only a relative
// error far below 2^-24.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>

#include "opcast/minifloat.h"

namespace opcast_ops {

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

constexpr double Factorial(int k) { return k == 0 ? 1 : k * Factorial(k - 1); }

// The sum of r^i / (k + i)! for i < kTerms, where `powers` holds r, r^2, r^4 and r^8. Halves of the
// sum do not wait for each other, as the terms of Horner's rule do.
template <int kTerms, int k = 0>
inline double ExpSeries(const double* powers) {
  constexpr double kFirst = 1 / Factorial(k);
  if constexpr (kTerms == 1) {
    return kFirst;
  } else {
    constexpr int kPower = (kTerms > 8) + (kTerms > 4) + (kTerms > 2), kHalf = 1 << kPower;
    return ExpSeries<kHalf, k>(powers) +
           powers[kPower] * ExpSeries<kTerms - kHalf, k + kHalf>(powers);
  }
}

// e^x = 2^n e^r with |r| < 0.35; e^r is the Taylor polynomial (remainder r^10 / 10! < 7e-12 for
// degree 9). Gives e^r and leaves n + kRounder in `shifted`.
template <int kDegree>
inline double ExpFraction(double x, double* shifted) {
  constexpr double kLog2E = 0x1.71547652b82fep0, kLn2High = 0x1.62e42fefa39efp-1,
                   kLn2Low = 0x1.abc9e3b39803fp-56;
  *shifted = x * kLog2E + kRounder;
  const double n = *shifted - kRounder;
  const double r = x - n * kLn2High - n * kLn2Low;
  const double r2 = r * r, r4 = r2 * r2;
  const double powers[] = {r, r2, r4, r4 * r4};
  return ExpSeries<kDegree + 1>(powers);
}

// e^x for |x| <= 700. The relative error is below 1e-11 with 9 as the degree of the polynomial, and
// a few 2^-53 with 12.
template <int kDegree = 9>
inline double ExpInRange(double x) {
  double shifted;
  const double y = ExpFraction<kDegree>(x, &shifted);
  return y * PowerOfTwo(shifted);
}

// e^x with a relative error below 1e-11, or 0, denormal or infinite where that is the double
// nearest to it. 2^n is applied in two factors, since n leaves the range of normal exponents before
// the result does.
inline double Exp(double x) {
  constexpr double kEnd = 800;  // beyond, the result is 0 or infinity all the same
  x = Select(__builtin_fabs(x) > kEnd, __builtin_copysign(kEnd, x), x);
  double shifted;
  const double y = ExpFraction<9>(x, &shifted), n = shifted - kRounder;
  const double half = n * 0.5 + kRounder;
  return y * PowerOfTwo(half) * PowerOfTwo(n - (half - kRounder) + kRounder);
}

// x / (1 + e^-x).
inline double Silu(double x) { return x / (1 + Exp(-x)); }

// 1 / (1 + e^-x), with a relative error of some 2^-53 where |x| <= 700; beyond, 0 or 1.
inline double Sigmoid(double x) {
  constexpr double kEnd = 700;
  const double nearby = Select(__builtin_fabs(x) > kEnd, kEnd, x);
  return Select(x < -kEnd, 0.0, 1 / (1 + ExpInRange<12>(-nearby)));
}

// The derivative of Silu for a Sigmoid(x); 0 and 1 at infinity. Near -1.28 it has a zero, around
// which only an exact sigmoid leaves a small relative error.
inline double SiluSlope(double x, double sigmoid) {
  constexpr double kEnd = 700;
  const double nearby = Select(__builtin_fabs(x) > kEnd, kEnd, x);
  return sigmoid * (1 + nearby * (1 - sigmoid));
}

}  // namespace opcast_ops
