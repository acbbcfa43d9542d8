// Rows divided by their root mean square: what rms_norm and fused_add_rms_norm share.
#pragma once

#include <cmath>
#include <cstdint>

#include "map.h"
#include "rows.h"

namespace opcast_ops {

// The sum of the squares of n numbers.
template <int kWidth, class T>
inline double SquareSum(const T* x, int64_t n) {
  const T* const rows[] = {x};
  const double sum =
      FloatSum<kWidth>(n, rows, [](const auto* x, auto* sum) { AddProduct(x[0], x[0], sum); });
  // Where a square may have left the range of floats, double has room for it.
  if (sum > 0x1p-80 * static_cast<double>(n) && sum < 0x1p120) return sum;
  return Sum(n, [x](int64_t j) {
    const double wide = static_cast<float>(x[j]);
    return wide * wide;
  });
}

// to[j] = x[j] / sqrt(mean(x^2) + eps) * weight[j]; to may be x.
template <int kWidth, class Y, class T>
inline void Normalise(const T* x, const T* weight, int64_t n, double eps, Y* to) {
  const double squares = SquareSum<kWidth>(x, n);
  const double scale = 1 / std::sqrt(squares / static_cast<double>(n) + eps);
  const float rounded = static_cast<float>(scale);
  if (rounded > 0x1p-100f && rounded < 0x1p100f) {
    Map<kWidth>(
        n, [rounded](float x, float weight) { return x * rounded * weight; }, to, x, weight);
  } else {  // products may leave the range of floats although results do not
    Map<kWidth>(n, [scale](double x, double weight) { return x * scale * weight; }, to, x, weight);
  }
}

}  // namespace opcast_ops
