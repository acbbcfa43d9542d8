// grad_x[i, j] = rstd[i] * (g[i, j] - mean(g[i]) - z[i, j] * mean(g[i] * z[i])) with g = grad_y *
// weight and z = (x - mean) * rstd; grad_weight and grad_bias are the sums of grad_y * z and grad_y
// over the rows. Dense rows. Computed in double, rounded once.
#include <cmath>

#include "columns.h"
#include "convert.h"
#include "layernorm2d_backward.gen.h"
#include "rows.h"

namespace opcast_ops {
namespace {

// One row: writes to grad_x and adds to the sums for grad_weight and, n further, grad_bias.
template <int kWidth>
inline void Row(const float* grad, const float* x, const float* weight, int64_t n, double mean,
                double rstd, float* grad_x, double* sums) {
  const float* const rows[] = {grad, weight, x};
  const auto add = [=](const auto* x, auto* means) {
    const auto weighted = x[0].all * x[1].all;
    means[0].all += weighted;
    means[1].all += weighted * ((x[2].all - mean) * rstd);
  };
  double means[2];
  if (std::isfinite(mean) && std::isfinite(rstd)) {
    DoubleSums<kWidth>(n, rows, add, means);
  } else {  // infinity times the zeros that fill up vectors would be NaN
    const auto weighted = [=](int64_t j) { return double{grad[j]} * weight[j]; };
    means[0] = Sum(n, weighted);
    means[1] = Sum(n, [=](int64_t j) { return weighted(j) * ((x[j] - mean) * rstd); });
  }
  const double shift = means[0] / static_cast<double>(n), along = means[1] / static_cast<double>(n);
  for (int64_t j = 0; j < n; ++j) {
    const double g = grad[j], normal = (x[j] - mean) * rstd;
    grad_x[j] = Round<float>(rstd * (g * weight[j] - shift - normal * along));
    sums[j] += g * normal;
    sums[n + j] += g;
  }
}

}  // namespace

opcast::Status Layernorm2dBackward(const Layernorm2dBackwardArgs& args,
                                   const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const int64_t n = a.N;
    const auto rows = [&a, n](int64_t first, int64_t last, double* sums, auto width) {
      FloatRow<width, T> grad_row(n), x_row(n), weight_row(n), result(n);
      const float* weight = weight_row.Read(a.weight);
      for (int64_t i = first; i < last; ++i) {
        const float* grad = grad_row.Read(a.grad_y + i * n);
        const float* x = x_row.Read(a.x + i * n);
        T* grad_x = a.grad_x + i * n;
        const double mean = a.mean[i], rstd = a.rstd[i];
        Row<width>(grad, x, weight, n, mean, rstd, result.Write(grad_x), sums);
        result.Wrote(grad_x);
      }
    };
    const auto store = [&a, n](int64_t begin, int64_t end, const double* totals) {
      T* grad_weight = a.grad_weight;
      T* grad_bias = a.grad_bias;
      for (int64_t j = begin; j < std::min(end, n); ++j) grad_weight[j] = Round<T>(totals[j]);
      for (int64_t j = std::max(begin, n); j < end; ++j) grad_bias[j - n] = Round<T>(totals[j]);
    };
    SumRows(launch, a.M, n, 2 * n, rows, store);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
