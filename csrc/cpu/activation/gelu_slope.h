// The slopes of gelu and of its tanh form in float (see gelu.h).
#pragma once

#include <limits>
#include <type_traits>

#include "cpu/lib/gelu.h"

namespace opcast_ops {

// The slope at x <= 0 for results of 16 bits: with a = -x, the product of kZero - a and the square
// of 2^p, where p is nearly the polynomial kLogarithm of a. Beyond kEnd, the slope is as at kEnd.
// These are within 3e-5, 1e-3, 1e-4 and 1e-3 of the slopes.
template <class T>
struct ExactSlope;
template <>
struct ExactSlope<opcast::f16> {
  static constexpr double kZero = kExactZero;
  static constexpr float kEnd = 7.75f, kMostBeyond = 0x1p16f;
  static constexpr float kLogarithm[] = {0x1.7e8dbep-23f,  -0x1.c11302p-18f, 0x1.c82cd0p-14f,
                                         -0x1.09a10ep-10f, 0x1.8f01c2p-8f,   -0x1.a0ed9ap-6f,
                                         -0x1.20887ep-2f,  -0x1.8794e0p-3f,  -0x1.2d47fcp-2f};
};
template <>
struct ExactSlope<opcast::bf16> {
  static constexpr double kZero = kExactZero;
  static constexpr float kEnd = 18.5f, kMostBeyond = 0x1p40f;
  static constexpr float kLogarithm[] = {0x1.f76e32p-29f,  -0x1.411988p-22f, 0x1.570eaap-17f,
                                         -0x1.8fd360p-13f, 0x1.165f3ap-9f,   -0x1.e07630p-7f,
                                         -0x1.2fbf4cp-2f,  -0x1.775812p-3f,  -0x1.2dfd38p-2f};
};
template <class T>
struct TanhSlope;
template <>
struct TanhSlope<opcast::f16> {
  static constexpr double kZero = kTanhZero;
  static constexpr float kEnd = 6.8125f, kMostBeyond = 0x1p16f;
  static constexpr float kLogarithm[] = {-0x1.4dfab6p-22f, 0x1.6cb0eap-17f, -0x1.4965d4p-13f,
                                         0x1.3716aap-10f,  -0x1.37ce02p-8f, 0x1.0d6a4cp-7f,
                                         -0x1.01e1e6p-11f, -0x1.8abd7cp-6f, -0x1.1f6014p-2f,
                                         -0x1.8b4498p-3f,  -0x1.2de302p-2f};
};
template <>
struct TanhSlope<opcast::bf16> {
  static constexpr double kZero = kTanhZero;
  static constexpr float kEnd = 11.5f, kMostBeyond = 0x1p40f;
  static constexpr float kLogarithm[] = {0x1.fba49ep-27f,  -0x1.ed998ap-21f, 0x1.9aa6a2p-16f,
                                         -0x1.7ba5c2p-12f, 0x1.a5c590p-9f,   -0x1.1838bcp-6f,
                                         0x1.89afdcp-5f,   -0x1.39c5f0p-4f,  -0x1.03189ep-2f,
                                         -0x1.952374p-3f,  -0x1.2df2b2p-2f};
};

// grad * slope(-a) from such a polynomial. One of two equal factors goes to grad, so that the other
// products are in the range of floats where the result is.
template <int kWidth, class Slope>
inline float LowerShort(float grad, float a) {
  constexpr TwoFloats kZero(Slope::kZero);
  const auto parts = SplitPower<kWidth>(SplitPolynomial<kWidth>(a, Slope::kLogarithm));
  const float root = parts.template Fraction<kWidth>() * PowerOfTwo(parts.n);
  return grad * root * (((kZero.high - a) + kZero.low) * root);
}

// grad * slope(-a) for float32: grad * (kZero - a) * exp(-a^2 / 2) times a polynomial. Its argument
// is t = (a - 3.5) / (a + 3.5), and its relative error is the least for a <= kEnd, 6e-9. The
// argument of the exponential has two parts.
template <>
struct ExactSlope<float> {
  static constexpr float kEnd = 13, kMostBeyond = 0;

  template <int kWidth>
  static float Lower(float grad, float a) {
    constexpr TwoFloats kZero(kExactZero);
    const float p =
        Polynomial<kWidth>((a - 3.5f) / (a + 3.5f), 0x1.352586p-15f, 0x1.6a9088p-16f,
                           -0x1.c4b7dap-12f, 0x1.ff74a0p-13f, 0x1.33bc2ep-8f, -0x1.68bd16p-6f,
                           0x1.ddd498p-5f, -0x1.c7f3d8p-4f, 0x1.e0a508p-2f);
    const float half = -0.5f * a, square = half * a;
    const auto parts = SplitExp<kWidth>(square, Fma<kWidth>(half, a, -square));
    // The product of three, and what two roundings take from it.
    const float zero = (kZero.high - a) + kZero.low, slope = p * zero, factor = grad * slope;
    const float lost =
        Fma<kWidth>(grad, Fma<kWidth>(p, zero, -slope), Fma<kWidth>(grad, slope, -factor));
    const float whole = TimesOnePlus<kWidth>(factor, lost, parts.r * parts.slope);
    return whole * PowerOfTwo(parts.n);
  }
};

// The same for the tanh form. With the sigmoid's argument s(a) and e = exp(-s(a)), the slope at -a
// is e * (1 + e - a s'(a)) / (1 + e)^2. In double but for the last steps, since the sum cancels
// around its zero. The polynomial for e has the least relative error, 2e-9, of those that are exact
// in that zero.
template <>
struct TanhSlope<float> {
  static constexpr float kEnd = 9.96f, kMostBeyond = 0;

  template <int kWidth>
  static float Lower(float grad, float a) {
    constexpr double kCubic = kSqrt8OverPi * kGeluCubic;
    const double wide = a, square = wide * wide;
    const double argument =
        wide * Fma<kWidth>(square, kCubic * kWideLog2E, kSqrt8OverPi * kWideLog2E);
    const double e = PowerOfMinus<kWidth>(
        argument, 0x1.4283e7802b286p-13, -0x1.5f4420613ca21p-10, 0x1.3b2c6617c2ca9p-7,
        -0x1.c6aed2b54f68fp-5, 0x1.ebfbdd8390ee5p-3, -0x1.62e430d7ab734p-1, 0x1.0000000190f1dp+0);
    const double sum = 1 + e;
    const double rest = Fma<kWidth>(-wide, Fma<kWidth>(square, 3 * kCubic, kSqrt8OverPi), sum);
    return grad * (static_cast<float>(rest * e) / static_cast<float>(sum * sum));
  }
};

// grad * slope(x) in float for results of type T.
template <int kWidth, class T, class Slope>
inline float Gradient(float grad, float x) {
  const float a = Magnitude(x, Slope::kEnd);
  float lower;
  if constexpr (std::is_same_v<T, float>)
    lower = Slope::template Lower<kWidth>(grad, a);
  else
    lower = LowerShort<kWidth, Slope>(grad, a);
  return SelectBySign(x, lower, grad - lower);
}

// Whether that holds, and makes no NaN. For results of 16 bits, what follows from a slope below
// that at kEnd is 0, unless grad is beyond kMostBeyond.
template <class T, class Slope>
inline bool IsOrdinary(float grad, float x) {
  constexpr bool kLong = std::is_same_v<T, float>;
  constexpr float kMost = kLong ? 0x1p118f : std::numeric_limits<float>::max();
  const float magnitude = __builtin_fabsf(grad);
  return ((x >= -Slope::kEnd) & (magnitude <= kMost)) |
         (!kLong & (x < 0) & (magnitude < Slope::kMostBeyond));
}

}  // namespace opcast_ops
