// With h = x + residual: x[i, j] becomes h[i, j] / sqrt(mean(h[i]^2) + eps) * weight[j] and
// residual becomes h; rows with contiguous elements. The sum is computed in double, so its rounding
// to the dtype does not enter the norm, and each result is rounded once.
#include <cmath>

#include "float_row.h"
#include "fused_add_rms_norm.gen.h"
#include "rows.h"
#include "scalar.h"

namespace ops {
namespace {

// One row, in place.
inline void Row(float* x, float* residual, const float* weight, int64_t n, double eps) {
  const double squares = Sum(n, [x, residual](int64_t j) {
    const double h = double{x[j]} + residual[j];
    return h * h;
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
  return Visit(args, [&](auto types) {
    using T = typename decltype(types)::T;
    const int64_t n = args.N;
    opcast::ParallelFor(
        launch, args.batch, RowsPerChunk(n), [&args, n](int64_t begin, int64_t end) {
          FloatRow<T> x_row(n), residual_row(n), weight_row(n);
          const float* weight = weight_row.Read(static_cast<const T*>(args.weight));
          for (int64_t i = begin; i < end; ++i) {
            T* x = static_cast<T*>(args.x) + args.x_layout.Batch(i);
            T* residual = static_cast<T*>(args.residual) + args.residual_layout.Batch(i);
            x_row.Read(x);
            residual_row.Read(residual);
            Row(x_row.Write(x), residual_row.Write(residual), weight, n, args.eps);
            x_row.Wrote(x);
            residual_row.Wrote(residual);
          }
        });
    return opcast::Status::Ok();
  });
}

}  // namespace ops
