// grad_x[i, j] = r * (g[i, j] - x[i, j] * r^2 * mean(g[i] * x[i])) with g = grad_y * weight and
// r = 1 / sqrt(mean(x[i]^2) + eps); grad_weight[j] is the sum of grad_y[i, j] * x[i, j] * r over
// all rows. Dense rows. Computed in double, rounded once.
#include <cmath>

#include "columns.h"
#include "float_row.h"
#include "rms_norm_backward.gen.h"
#include "rows.h"
#include "scalar.h"

namespace ops {
namespace {

// One row: writes to grad_x and adds to grad_weight.
inline void Row(const float* grad, const float* x, const float* weight, int64_t n, double eps,
                float* grad_x, double* grad_weight) {
  const double count = static_cast<double>(n);
  const double squares = Sum(n, [x](int64_t j) { return double{x[j]} * x[j]; });
  const double along =
      Sum(n, [grad, x, weight](int64_t j) { return double{grad[j]} * weight[j] * x[j]; });
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
  return Visit(args, [&](auto types) {
    using T = typename decltype(types)::T;
    const int64_t n = args.N;
    const auto rows = [&args, n](int64_t first, int64_t last, double* grad_weight) {
      FloatRow<T> grad_row(n), x_row(n), weight_row(n), result(n);
      const float* weight = weight_row.Read(static_cast<const T*>(args.weight));
      for (int64_t i = first; i < last; ++i) {
        const float* grad = grad_row.Read(static_cast<const T*>(args.grad_y) + i * n);
        const float* x = x_row.Read(static_cast<const T*>(args.x) + i * n);
        T* grad_x = static_cast<T*>(args.grad_x) + i * n;
        Row(grad, x, weight, n, args.eps, result.Write(grad_x), grad_weight);
        result.Wrote(grad_x);
      }
    };
    const auto store = [&args](int64_t begin, int64_t end, const double* totals) {
      T* grad_weight = static_cast<T*>(args.grad_weight);
      for (int64_t j = begin; j < end; ++j) grad_weight[j] = Round<T>(totals[j]);
    };
    SumRows(launch, args.batch, n, n, rows, store);
    return opcast::Status::Ok();
  });
}

}  // namespace ops
