// gelu, x * F(x), and its tanh form: what the ops that are made of them share.
#pragma once

#include "cpu/lib/sigmoid_gates.h"
#include "opcast/kernel.h"

namespace opcast_ops {

// x F(x) is this minus |x| F(-|x|), with the sign of x: x, or 0 below; NaN for -inf.
inline float Ramp(float x) { return x - SelectBySign(x, x, 0); }

// The binary logarithm of F(-a), as near as results of a dtype need it (0.58 ulp of float16, 0.65
// of bfloat16, with their rounding): they are 0 beyond kEnd, or near enough to x. As powers of two,
// the polynomials have relative errors of 4e-5 and 6.4e-4. A rough power of two is enough for
// bfloat16.
template <class T>
struct LogTail;
template <>
struct LogTail<opcast::f16> {
  static constexpr float kEnd = 5.9f;
  static constexpr bool kRough = false;

  static constexpr float kPolynomial[] = {0x1.8c04eep-16f, -0x1.45a4c2p-11f, 0x1.db8c1p-8f,
                                          -0x1.a4afacp-5f, -0x1.d82134p-2f,  -0x1.2677e8p+0f,
                                          -0x1.0003cep+0f};
};
template <>
struct LogTail<opcast::bf16> {
  static constexpr float kEnd = 13.7f;
  static constexpr bool kRough = true;

  static constexpr float kPolynomial[] = {-0x1.2db57ap-22f, 0x1.0f488cp-16f, -0x1.9a071ep-12f,
                                          0x1.56e3eep-8f,   -0x1.64368ep-5f, -0x1.e61f5cp-2f,
                                          -0x1.24448cp+0f,  -0x1.003c9p+0f};
};

// The same where the result is a factor of others, so that nothing is lost before a F(-a) is 0 as a
// float: within 6e-5.
struct LogTailOfFactor {
  static constexpr float kEnd = 14.2f;
  static constexpr bool kRough = false;

  static constexpr float kPolynomial[] = {
      -0x1.a00a1ep-30f, 0x1.f5b530p-24f, -0x1.08bc90p-18f, 0x1.432be8p-14f, -0x1.fe1beap-11f,
      0x1.15776ap-7f,   -0x1.b66342p-5f, -0x1.d640f4p-2f,  -0x1.269f2cp+0f, -0x1.000150p+0f};
};

// x F(x) for results of 16 bits.
template <int kWidth, class Tail>
inline float GeluShort(float x) {
  const float a = Magnitude(x, Tail::kEnd);
  const float logarithm = SplitPolynomial<kWidth>(a, Tail::kPolynomial);
  const auto parts =
      Tail::kRough ? SplitRoughPower<kWidth>(logarithm) : SplitPower<kWidth>(logarithm);
  // The power of two comes in two parts, since n leaves the range of exponents before x F(x) is 0.
  const float tail = TimesPower(parts.template Fraction<kWidth>(), parts.n, 64) * 0x1p-64f;
  return OrSign(Fma<kWidth>(a, -tail, Ramp(x)), x);
}

// x * (1 + tanh u) / 2 = x * sigmoid(2 u) for results of 16 bits.
template <int kWidth>
inline float GeluTanhShort(float x) {
  constexpr float kLinear = static_cast<float>(kSqrt8OverPi);
  constexpr float kThird = static_cast<float>(kSqrt8OverPi * kGeluCubic);
  return Gated<kWidth>(x, x * Fma<kWidth>(x * x, kThird, kLinear));
}

// Where the slopes are 0, but for the sign.
constexpr double kExactZero = 0x1.80ead197f00b4p-1, kTanhZero = 0x1.81429f9e97e4dp-1;

// A function and its slope.
struct GeluParts {
  double value, slope;
};

// x F(x) and its slope in double, both from parts at a = |x| with a relative error below 2e-9 up to
// a = 20; beyond that they are below 1e-86 in any case.
//
// exp(a^2 / 2) * F(-a) and exp(a^2 / 2) * (F(-a) - a f(a)) / (kExactZero - a) are polynomials in
// t = (a - 4) / (a + 4): those that interpolate them in Chebyshev nodes of the interval of t for
// 0 <= a <= 20, found with 40 digits and more; they are within 1.2e-9 of the functions. The zero
// has a second part for the numbers next to it.
template <int kWidth>
inline GeluParts WideGelu(double x) {
  constexpr double kZeroRest = -0x1.13e74c58cada8p-56, kEnd = 37;
  const double a = __builtin_fabs(x), nearby = Select(a > kEnd, kEnd, a);
  const double t = 1 - 8 / (nearby + 4), power = Exp<kWidth>(-nearby * nearby / 2);
  const double p = Polynomial<kWidth>(
      t, -1.657986692043612e-05, -1.3926941860855689e-05, 0.00018556159760365167,
      -0.0001559443857155783, -0.0017882622199986691, 0.00950515247806355, -0.0280833650295697,
      0.060462927171604564, -0.1033658978363169, 0.4622112440865242);
  const double q = Polynomial<kWidth>(
      t, -1.246350180937404e-06, 5.106484711140369e-06, 2.5312424236897356e-05,
      -4.692123344602704e-05, -0.00018564069075154352, 0.0006395687076799596, 0.0005072139437206585,
      -0.00849226323032529, 0.030864841910581045, -0.07170739254805417, 0.1243792536970781,
      -0.1703977219059621, 0.09441064131488774);
  const double lower = Select(a > kEnd, 0.0, power * p * (kExactZero - nearby + kZeroRest));
  const double tail = Select(a > kEnd, 0.0, power * q);
  return {x * Select(x < 0, tail, 1 - tail), Select(x < 0, lower, 1 - lower)};
}

// The same for the tanh form: x * g(u(x)) with g(u) = 1 / (1 + e^-u), so the slope is g + x g
// (1 - g) u'.
template <int kWidth>
inline GeluParts WideGeluTanh(double x) {
  constexpr double kEnd = 21;  // beyond, the slope is below 1e-290, or 1
  const double nearby = Select(__builtin_fabs(x) > kEnd, kEnd, x);
  const double cubic = kGeluCubic * nearby * nearby;
  const double gate = Sigmoid<kWidth>(kSqrt8OverPi * (nearby + cubic * nearby));
  const double slope = gate * (1 + nearby * (1 - gate) * (kSqrt8OverPi * (1 + 3 * cubic)));
  return {x * Select(x < -kEnd, 0.0, gate), Select(x < -kEnd, 0.0, slope)};
}

}  // namespace opcast_ops
