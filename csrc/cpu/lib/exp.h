// The exponential function and what follows from it, for loops that vectorise (see
// scalar_functions.h).
//
// csrc/tests/ulp.cc holds each function of float against the exact value for every float.
#pragma once

#include "cpu/lib/scalar_functions.h"

namespace opcast_ops {

// Added to a small number, these round it to an integer, which then stands in the low bits of the
// sum.
constexpr float kRounder = 0x1.8p23f;
constexpr double kWideRounder = 0x1.8p52;

constexpr float kLog2E = 0x1.715476p0f;
constexpr double kWideLog2E = 0x1.71547652b82fep0;

// The integer whose sum with kRounder is `sum`.
inline int32_t RoundedBy(float sum) {
  return static_cast<int32_t>(opcast::detail::Bits(sum) - opcast::detail::Bits(kRounder));
}

// e^x or 2^x as (1 + r * slope) * 2^n, where the first factor is between 0.7 and 1.42.
struct ExpParts {
  float r, slope;
  int32_t n;

  template <int kWidth>
  float Fraction() const {
    return Fma<kWidth>(r, slope, 1);
  }
};

// (e^r - 1) / r for |r| < 0.35, of degree 5: 1 + r / 2 and four coefficients that minimise the
// relative error of e^r, which is below 4e-9.
template <int kWidth>
inline float ExpSlope(float r) {
  return Polynomial<kWidth>(r, 0x1.6db4e8p-10f, 0x1.123bdep-7f, 0x1.55545ep-5f, 0x1.55548ep-3f,
                            0.5f, 1.0f);
}

// e^r - 1 for |r| < 0.35, to 1 ulp: the same polynomial but for the roundings, in parts that do not
// wait for each other.
template <int kWidth>
inline float ExpLessOne(float r) {
  const float square = r * r;
  const float first = Fma<kWidth>(0x1.55548ep-3f, r, 0.5f),
              last = Fma<kWidth>(0x1.123bdep-7f, r, 0x1.55545ep-5f);
  const float rest = Fma<kWidth>(Fma<kWidth>(0x1.6db4e8p-10f, square, last), square, first);
  return Fma<kWidth>(square, rest, r);
}

// (x + low) * (1 + rest), where x and low are the parts of one number.
template <int kWidth>
inline float TimesOnePlus(float x, float low, float rest) {
  return x + Fma<kWidth>(x, rest, Fma<kWidth>(low, rest, low));
}

// ln 2; the product of the first part with an integer of 9 bits is exact.
constexpr float kLn2High = 0x1.62e4p-1f, kLn2Low = 0x1.7f7d1cp-20f;

// A number as r + n * ln 2, where |r| < 0.35.
struct Reduced {
  float r;
  int32_t n;
};

// x + low for |x| below 2^20 and a low that is below an ulp of x.
template <int kWidth>
inline Reduced Reduce(float x, float low) {
  const float shifted = Fma<kWidth>(x, kLog2E, kRounder), n = shifted - kRounder;
  return {Fma<kWidth>(n, -kLn2High, x) + Fma<kWidth>(n, -kLn2Low, low), RoundedBy(shifted)};
}
template <int kWidth>
inline Reduced Reduce(float x) {
  const float shifted = Fma<kWidth>(x, kLog2E, kRounder), n = shifted - kRounder;
  return {Fma<kWidth>(n, -kLn2Low, Fma<kWidth>(n, -kLn2High, x)), RoundedBy(shifted)};
}

template <int kWidth>
inline ExpParts SplitExp(Reduced x) {
  return {x.r, ExpSlope<kWidth>(x.r), x.n};
}
template <int kWidth>
inline ExpParts SplitExp(float x) {
  return SplitExp<kWidth>(Reduce<kWidth>(x));
}
template <int kWidth>
inline ExpParts SplitExp(float x, float low) {
  return SplitExp<kWidth>(Reduce<kWidth>(x, low));
}

// The parts of 2^x for |x| below 2^20, with a relative error of 3e-6 beside that of x: for results
// of 16 bits.
template <int kWidth>
inline ExpParts SplitPower(float x) {
  const float shifted = x + kRounder, r = x - (shifted - kRounder);
  const float slope =
      Polynomial<kWidth>(r, 0x1.3a02ccp-7f, 0x1.c9fc46p-5f, 0x1.ec0378p-3f, 0x1.62e12cp-1f);
  return {r, slope, RoundedBy(shifted)};
}

// The same with a relative error of 1e-4: for results of bfloat16.
template <int kWidth>
inline ExpParts SplitRoughPower(float x) {
  const float shifted = x + kRounder, r = x - (shifted - kRounder);
  const float slope = Polynomial<kWidth>(r, 0x1.c2a218p-5f, 0x1.f00c4cp-3f, 0x1.62f5fap-1f);
  return {r, slope, RoundedBy(shifted)};
}

// The same with a relative error of 2e-7, and below 2e-8 for the power of -0.1558: silu' of the
// float16 next to its zero has the most to lose from it.
template <int kWidth>
inline ExpParts SplitNearPower(float x) {
  const float shifted = x + kRounder, r = x - (shifted - kRounder);
  const float slope = Polynomial<kWidth>(r, 0x1.59c65ep-10f, 0x1.3cd716p-7f, 0x1.c6bd76p-5f,
                                         0x1.ebfa00p-3f, 0x1.62e420p-1f);
  return {r, slope, RoundedBy(shifted)};
}

// 2^(n + more), where that is a normal exponent. A constant `more` costs nothing.
inline float PowerOfTwo(int32_t n, int32_t more = 0) {
  constexpr int32_t kBias = 127;
  const uint32_t exponent = static_cast<uint32_t>(n) + static_cast<uint32_t>(more + kBias);
  return opcast::detail::FromBits(exponent << 23);
}

// y * 2^(n + more), where y and the result are normal numbers: neither 0 nor NaN nor infinite. The
// power itself may leave the range of floats.
inline float TimesPower(float y, int32_t n, int32_t more) {
  const uint32_t power = static_cast<uint32_t>(n) + static_cast<uint32_t>(more);
  return opcast::detail::FromBits(opcast::detail::Bits(y) + (power << 23));
}

// y * 2^n for |n| <= 252. The power is applied in two factors, since n leaves the range of normal
// exponents before the result does.
inline float Scale(float y, int32_t n) {
  const int32_t half = n >> 1;
  return y * PowerOfTwo(half) * PowerOfTwo(n - half);
}

// e^x, to 0.92 ulp: 0, denormal or infinite where that is the float nearest to it.
template <int kWidth>
inline float Exp(float x) {
  constexpr float kEnd = 110;  // beyond, the result is 0 or infinity all the same
  x = Select(__builtin_fabsf(x) > kEnd, __builtin_copysignf(kEnd, x), x);
  const ExpParts parts = SplitExp<kWidth>(x);
  return Scale(parts.Fraction<kWidth>(), parts.n);
}

// 1 + e^x for |x| <= 88, to 0.8 ulp, but 1.8 ulp where it is near 2^24: the sum of the powers of
// two is exact below.
template <int kWidth>
inline float OnePlusExp(const ExpParts& parts) {
  const float power = PowerOfTwo(parts.n);
  return Fma<kWidth>(parts.r * parts.slope, power, 1 + power);
}

template <int kWidth>
inline float OnePlusExp(float x) {
  return OnePlusExp<kWidth>(SplitExp<kWidth>(x));
}

// 2^n where `sum` is n + kWideRounder and n a normal exponent.
inline double PowerOfTwo(double sum) {
  uint64_t bits;
  std::memcpy(&bits, &sum, sizeof bits);
  bits = (bits + 1023) << 52;
  std::memcpy(&sum, &bits, sizeof bits);
  return sum;
}

// e^x for |x| <= 700, in double: the same with the Taylor polynomial, whose remainder at degree 11
// is below 1e-14 of it.
template <int kWidth>
inline double Exp(double x) {
  constexpr double kLn2High = 0x1.62e42fefa39efp-1, kLn2Low = 0x1.abc9e3b39803fp-56;
  const double shifted = Fma<kWidth>(x, kWideLog2E, kWideRounder);
  const double n = shifted - kWideRounder;
  const double r = Fma<kWidth>(n, -kLn2Low, Fma<kWidth>(n, -kLn2High, x));
  const double fraction =
      Polynomial<kWidth>(r, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040,
                         1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5, 1, 1);
  return fraction * PowerOfTwo(shifted);
}

// y * 2^n where `sum` is n + kWideRounder, and y and the result are normal numbers.
inline double TimesPower(double y, double sum) {
  uint64_t bits, power;
  std::memcpy(&bits, &y, sizeof bits);
  std::memcpy(&power, &sum, sizeof power);
  bits += power << 52;
  std::memcpy(&y, &bits, sizeof y);
  return y;
}

// 2^-x for 0 <= x <= 1000 by a polynomial that is 2^-r for |r| <= 0.5, whose coefficients begin
// with that of the highest power.
template <int kWidth, class... Vs>
inline double PowerOfMinus(double x, Vs... coefficients) {
  const double shifted = kWideRounder - x, r = x + (shifted - kWideRounder);
  return TimesPower(Polynomial<kWidth>(r, coefficients...), shifted);
}

// log(1 + x) for 0 <= x <= 1, in double, with a relative error below 1e-15: twice the inverse
// hyperbolic tangent of s = x / (2 + x), whose quotient with s is a polynomial of s^2.
template <int kWidth>
inline double LogOnePlus(double x) {
  const double s = x / (2 + x), square = s * s;
  const double quotient =
      Polynomial<kWidth>(square, 0x1.6c26693a7c095p-4, 0x1.94b79523b2fbbp-5, 0x1.1659956da410fp-4,
                         0x1.3aa5e932d3628p-4, 0x1.74628d4f43596p-4, 0x1.c71c47af989fdp-4,
                         0x1.2492498161ca5p-3, 0x1.99999998ca58bp-3, 0x1.5555555555aeep-2, 1);
  return 2 * s * quotient;
}

// 1 / (1 + e^-x) in double, with a relative error below 1e-13 where |x| <= 700; beyond, 0 or 1.
template <int kWidth>
inline double Sigmoid(double x) {
  constexpr double kEnd = 700;
  const double nearby = Select(__builtin_fabs(x) > kEnd, kEnd, x);
  return Select(x < -kEnd, 0.0, 1 / (1 + Exp<kWidth>(-nearby)));
}

}  // namespace opcast_ops
