// With h = x + residual: x[i, j] becomes h[i, j] / sqrt(mean(h[i]^2) + eps) * weight[j] and
// residual becomes h; rows with contiguous elements. The sum is computed in double, so its rounding
// to the dtype does not enter the norm, and each result is rounded once.
#include <cmath>

#include "convert.h"
#include "fused_add_rms_norm.gen.h"
#include "rows.h"

namespace opcast_ops {
namespace {

// One row, in place.
template <int kWidth>
inline void Row(float* x, float* residual, const float* weight, int64_t n, double eps) {
  const float* const both[] = {x, residual};
  const double squares = DoubleSum<kWidth>(n, both, [](const auto* x, auto* sum) {
    const auto h = x[0].all + x[1].all;
    sum->all += h * h;
  });
  const double scale = 1 / std::sqrt(squares / static_cast<double>(n) + eps);
  for (int64_t j = 0; j < n; ++j) {
    const double h = double{x[j]} + residual[j];
    x[j] = Round<float>(h * scale * weight[j]);
    residual[j] = Round<float>(h);
  }
}

}  // namespace

opcast::Status FusedAddRmsNorm(const FusedAddRmsNormArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const int64_t n = a.N;
    const auto rows = [&a, n](int64_t begin, int64_t end, auto width) {
      FloatRow<width, T> x_row(n), residual_row(n), weight_row(n);
      const float* weight = weight_row.Read(a.weight);
      for (int64_t i = begin; i < end; ++i) {
        T* x = a.x + a.x_layout.Batch(i);
        T* residual = a.residual + a.residual_layout.Batch(i);
        x_row.Read(x);
        residual_row.Read(residual);
        Row<width>(x_row.Write(x), residual_row.Write(residual), weight, n, a.eps);
        x_row.Wrote(x);
        residual_row.Wrote(residual);
      }
    };
    opcast::ParallelFor(launch, a.batch, RowsPerChunk(n), rows);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
