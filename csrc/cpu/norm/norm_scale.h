// What norms by the root of the mean square share.
#pragma once

#include <cmath>
#include <cstdint>

#include "cpu/lib/map_elements.h"

namespace opcast_ops {

// 1 / sqrt(squares / n + eps).
inline double RmsScale(double squares, int64_t n, double eps) {
  return 1 / std::sqrt(squares / static_cast<double>(n) + eps);
}

// Whether a product of this number with one that is normalised stays in the range of floats.
inline bool HasRoom(float weight) { return __builtin_fabsf(weight) < 0x1p50f; }

// y[j] = x[j] * scale * weight[j], where `tame` says whether all of weight has room. To 4 ulp of
// float.
//
// In float, a power of two comes last, so that x * scale is not denormal before the result is.
// There is no NaN then: the scale says that x is finite.
template <int kWidth, class Y, class X, class W>
inline void Normalise(bool past, int64_t n, double scale, bool tame, Y* y, const X* x,
                      const W* weight) {
  constexpr double kUp = 0x1p60;
  constexpr float kDown = 0x1p-60f;
  if (tame && scale > 0x1p-126 && scale < 0x1p60) {
    const float scaled = static_cast<float>(scale * kUp);
    const auto f = [=](float x, float weight) { return x * scaled * weight * kDown; };
    MapTo<kWidth>(Stores<NoNan>{past}, n, f, y, x, weight);
  } else {
    const auto f = [=](double x, double weight) { return x * scale * weight; };
    MapTo<kWidth>(Stores<>{past}, n, f, y, x, weight);
  }
}

}  // namespace opcast_ops
