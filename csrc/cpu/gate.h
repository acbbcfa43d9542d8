// Numbers times a sigmoid: what silu, gelu and their derivatives are made of (see scalar.h).
#pragma once

#include "exp.h"

namespace opcast_ops {

// gelu's tanh form is x * sigmoid(kSqrt8OverPi * (x + kGeluCubic * x^3)).
constexpr double kSqrt8OverPi = 0x1.9884533d43651p0, kGeluCubic = 0.044715;

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
  return Select(x < 0, e, 1.0f) / (1 + e);
}

// The derivative of x * sigmoid(x) for a sigmoid(x); 0 and 1 at infinity. It has a zero near -1.28,
// around which floats are not enough even for results of 16 bits.
inline double SiluSlope(double x, double sigmoid) {
  constexpr double kEnd = 700;
  const double nearby = Select(__builtin_fabs(x) > kEnd, kEnd, x);
  return sigmoid * (1 + nearby * (1 - sigmoid));
}

}  // namespace opcast_ops
