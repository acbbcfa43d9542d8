// Numbers times a sigmoid: what silu, gelu and their derivatives are made of (see
// scalar_functions.h).
#pragma once

#include "cpu/lib/exp.h"

namespace opcast_ops {

// gelu's tanh form is x * sigmoid(kSqrt8OverPi * (x + kGeluCubic * x^3)).
constexpr double kSqrt8OverPi = 0x1.9884533d43651p0, kGeluCubic = 0.044715;

// Its parts as floats. kLinear has so few digits that its difference from a slope, the sum of
// kLinear and a product with kThird, is exact.
struct GeluArgumentParts {
  static constexpr double kCubic = kGeluCubic * kSqrt8OverPi;
  static constexpr float kLinear = 0x1.98846p0f, kThird = static_cast<float>(kCubic);
  static constexpr float kLinearLow = static_cast<float>(kSqrt8OverPi - kLinear);
  static constexpr float kThirdLow = static_cast<float>(kCubic - kThird);
};

// That argument for |x| <= 11.5, as x times a slope of two parts, so that large ones are right to a
// small part of 1.
template <int kWidth>
inline Reduced GeluArgument(float x) {
  constexpr float kLinear = GeluArgumentParts::kLinear, kThird = GeluArgumentParts::kThird;
  constexpr float kLinearLow = GeluArgumentParts::kLinearLow;
  constexpr float kThirdLow = GeluArgumentParts::kThirdLow;
  const float square = x * x, square_low = Fma<kWidth>(x, x, -square);
  const float slope = Fma<kWidth>(square, kThird, kLinear);
  const float lost = Fma<kWidth>(square, kThird, kLinear - slope) + kLinearLow;
  const float low = Fma<kWidth>(square_low, kThird, Fma<kWidth>(square, kThirdLow, lost));
  const float shifted = Fma<kWidth>(x * slope, kLog2E, kRounder), n = shifted - kRounder;
  const float rest = Fma<kWidth>(x, low, n * -kLn2Low);
  return {Fma<kWidth>(x, slope, n * -kLn2High) + rest, RoundedBy(shifted)};
}

// x * sigmoid(s + low), to 3.1 ulp of float plus what s + low lacks. The power of two of e^-|s|
// comes last, so that e^-|s| is not denormal before the result is.
template <int kWidth>
inline float Gated(float x, float s, float low = 0) {
  constexpr float kEnd = 170;  // beyond, the result is 0 for a negative s
  const bool negative = s < 0;
  const float t = Select(__builtin_fabsf(s) > kEnd, -kEnd, -__builtin_fabsf(s));
  const auto parts = SplitExp<kWidth>(t, Select(negative, low, -low));
  const float fraction = parts.template Fraction<kWidth>(), e = Scale(fraction, parts.n);
  const float numerator =
      Select(negative, Select(s < -kEnd, 0.0f, fraction), 1.0f);  // -inf * 0 is NaN
  return Scale(x * (numerator / (1 + e)), parts.n & (0 - static_cast<int32_t>(negative)));
}

// sigmoid(x) in float, to 2.4 ulp.
template <int kWidth>
inline float Sigmoid(float x) {
  const float e = Exp<kWidth>(-__builtin_fabsf(x));
  return SelectBySign(x, e, 1) / (1 + e);
}

// e^-s for 0 <= s <= 87 as (1 + rest) * power, with its power of two, and 1 / (1 + e^-s): what
// silu's slope is made of in float.
template <int kWidth>
struct Decay {
  float rest, power, value, sum, gate;

  explicit Decay(Reduced s)
      : rest(ExpLessOne<kWidth>(s.r)),
        power(PowerOfTwo(s.n)),
        value(Fma<kWidth>(rest, power, power)),
        sum(1 + value),
        gate(1 / sum) {}

  // e^-s - e^-t for a constant e^-t and `near`, which is t - s to an ulp: right to an ulp or two
  // where these are next to each other, too.
  float Above(float near, float at) const {
    const float far = Fma<kWidth>(rest, power, power - at);
    return SelectBySign(__builtin_fabsf(near) - 0.35f, at * ExpLessOne<kWidth>(near), far);
  }

  // factor * (high + low) * gate^2 * e^-s to 3 ulp.
  float Falling(float factor, float high, float low) const {
    const float square = Fma<kWidth>(value, value + 2, 1);
    const float value_low = Fma<kWidth>(rest, power, power - value);
    const float square_low =
        Fma<kWidth>(sum + sum, value_low, Fma<kWidth>(value, value + 2, 1 - square));
    const float inverse = gate * gate, slope = high * inverse, product = factor * slope;
    const float left = Fma<kWidth>(-slope, square_low, Fma<kWidth>(-slope, square, high));
    const float lost =
        Fma<kWidth>(factor, inverse * (left + low), Fma<kWidth>(factor, slope, -product));
    return TimesOnePlus<kWidth>(product, lost, rest) * power;
  }
};

// The derivative of x * sigmoid(x) for a sigmoid(x); 0 and 1 at infinity. It has a zero near -1.28,
// around which floats are not enough even for results of 16 bits.
inline double SiluSlope(double x, double sigmoid) {
  constexpr double kEnd = 700;
  const double nearby = Select(__builtin_fabs(x) > kEnd, kEnd, x);
  return sigmoid * (1 + nearby * (1 - sigmoid));
}

}  // namespace opcast_ops
