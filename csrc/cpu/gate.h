// Numbers times a sigmoid: what silu, gelu and their derivatives are made of (see scalar.h).
#pragma once

#include "exp.h"

namespace opcast_ops {

// x * sigmoid(s + low) * value, to 3 ulp of float plus what s + low lacks. e^-|s| is multiplied
// with the rest before its power of two is applied, so that no intermediate result is denormal.
template <int kWidth>
inline float Gated(float x, float s, float low = 0, float value = 1) {
  constexpr float kEnd = 170;  // beyond, the result is 0 for a negative s
  const bool negative = s < 0;
  const float t = Select(__builtin_fabsf(s) > kEnd, -kEnd, -__builtin_fabsf(s));
  const ExpParts parts = SplitExp<kWidth>(t, Select(negative, low, -low));
  const float e = Scale(parts.fraction, parts.n);
  const float numerator =
      Select(negative, Select(s < -kEnd, 0.0f, parts.fraction), 1.0f);  // -inf * 0 is NaN
  const int32_t n = parts.n & (0 - static_cast<int32_t>(negative)), half = n >> 1;
  return x * (numerator / (1 + e)) * PowerOfTwo(half) * value * PowerOfTwo(n - half);
}

// sigmoid(x) in float, to 2 ulp.
template <int kWidth>
inline float Sigmoid(float x) {
  const float e = Exp<kWidth>(-__builtin_fabsf(x));
  return Select(x < 0, e, 1.0f) / (1 + e);
}

// The derivative of x * sigmoid(x) for a sigmoid(x); 0 and 1 at infinity. It has a zero near -1.28,
// where a float32 result is within 4 ulp only if both are doubles.
template <class V>
inline V SiluSlope(V x, V sigmoid) {
  constexpr V kEnd = 700;
  const V nearby = Select(__builtin_fabs(x) > kEnd, kEnd, x);
  return sigmoid * (1 + nearby * (1 - sigmoid));
}

}  // namespace opcast_ops
