// Scores of experts in double, for kernels that route tokens.
#pragma once

#include "best.h"
#include "exp.h"
#include "rows.h"

namespace opcast_ops {

// e^(x - max) for x <= max; NaN if max is infinite or there are NaN.
template <int kWidth>
inline double Weight(float x, double max) {
  constexpr double kEnd = -700;
  const double d = x - max;
  return Exp<kWidth>(Select(d < kEnd, kEnd, d));
}

// The sum of the weights of a row.
template <int kWidth>
inline double SumOfWeights(int64_t n, const float* x, double max) {
  return Sum(n, [=](int64_t i) { return Weight<kWidth>(x[i], max); });
}

}  // namespace opcast_ops
