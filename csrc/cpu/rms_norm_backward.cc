// grad_x[i, j] = r * (g[i, j] - x[i, j] * r^2 * mean(g[i] * x[i])) with g = grad_y * weight and
// r = 1 / sqrt(mean(x[i]^2) + eps); grad_weight[j] is the sum of grad_y[i, j] * x[i, j] * r over
// all rows. Dense rows. Computed in double, rounded once.
#include <cmath>

#include "columns.h"
#include "convert.h"
#include "rms_norm_backward.gen.h"
#include "rows.h"

namespace opcast_ops {
namespace {

// One row: writes to grad_x and adds to grad_weight.
template <int kWidth>
inline void Row(const float* grad, const float* x, const float* weight, int64_t n, double eps,
                float* grad_x, double* grad_weight) {
  const double count = static_cast<double>(n);
  const float *const alone[] = {x}, *const all[] = {grad, weight, x};
  const double squares = DoubleSum<kWidth>(n, alone, kAddSquare);
  const double along = DoubleSum<kWidth>(
      n, all, [](const auto* x, auto* sum) { sum->all += x[0].all * x[1].all * x[2].all; });
  const double scale = 1 / std::sqrt(squares / count + eps);
  const double share = scale * scale * (along / count);
  for (int64_t j = 0; j < n; ++j) {
    const double g = grad[j], value = x[j];
    grad_x[j] = Round<float>(scale * (g * weight[j] - value * share));
    grad_weight[j] += g * value * scale;
  }
}

}  // namespace

opcast::Status RmsNormBackward(const RmsNormBackwardArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const int64_t n = a.N;
    const auto rows = [&a, n](int64_t first, int64_t last, double* grad_weight, auto width) {
      FloatRow<width, T> grad_row(n), x_row(n), weight_row(n), result(n);
      const float* weight = weight_row.Read(a.weight);
      for (int64_t i = first; i < last; ++i) {
        const float* grad = grad_row.Read(a.grad_y + i * n);
        const float* x = x_row.Read(a.x + i * n);
        T* grad_x = a.grad_x + i * n;
        Row<width>(grad, x, weight, n, a.eps, result.Write(grad_x), grad_weight);
        result.Wrote(grad_x);
      }
    };
    const auto store = [&a](int64_t begin, int64_t end, const double* totals) {
      T* grad_weight = a.grad_weight;
      for (int64_t j = begin; j < end; ++j) grad_weight[j] = Round<T>(totals[j]);
    };
    SumRows(launch, a.batch, n, n, rows, store);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
