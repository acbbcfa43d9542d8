// With h = x + residual: x[i, j] becomes h[i, j] / sqrt(mean(h[i]^2) + eps) * weight[j] and
// residual becomes h; rows with contiguous elements. h is a float, whatever the dtype, so that its
// rounding to 16 bits does not enter the norm. See squares.h for the rest.
#include "convert.h"
#include "fused_add_rms_norm.gen.h"
#include "rows.h"
#include "squares.h"

namespace opcast_ops {

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
        const float* from = x_row.Read(x);
        residual_row.Read(residual);
        float* h = residual_row.Write(residual);
        for (int64_t j = 0; j < n; ++j) h[j] = Round<float>(from[j] + h[j]);
        Normalise<width>(h, weight, n, a.eps, x_row.Write(x));
        x_row.Wrote(x);
        residual_row.Wrote(residual);
      }
    };
    opcast::ParallelFor(launch, a.batch, RowsPerChunk(n), rows);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
