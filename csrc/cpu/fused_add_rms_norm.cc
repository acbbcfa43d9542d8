// With h = x + residual: x[i, j] becomes h[i, j] / sqrt(mean(h[i]^2) + eps) * weight[j] and
// residual becomes h; rows with contiguous elements. The sum is a float, so that its rounding to a
// dtype of 16 bits does not enter the norm. See rms_norm.cc.
#include "convert.h"
#include "fused_add_rms_norm.gen.h"
#include "map.h"
#include "norm.h"
#include "rows.h"

namespace opcast_ops {
namespace {

// One row; `sum` has room for its numbers, and is `residual` itself where that has floats.
template <int kWidth, class T>
inline void Row(int64_t n, double eps, bool tame, T* x, T* residual, const T* weight, float* sum) {
  const auto add = [](float x, float residual) { return x + residual; };
  Map<kWidth>(n, add, sum, x, residual);
  const double squares = SumOfSquares<kWidth>(n, sum);
  Normalise<kWidth>(false, n, RmsScale(squares, n, eps), tame, x, sum, weight);
}

}  // namespace

opcast::Status FusedAddRmsNorm(const FusedAddRmsNormArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const int64_t n = a.N;
    const auto rows = [&a, n](int64_t begin, int64_t end, auto width) {
      const bool tame = AllOf<width>(n, IsTame, a.weight);
      FloatRow<width, T> sum(n);
      for (int64_t i = begin; i < end; ++i) {
        T* residual = a.residual + a.residual_layout.Batch(i);
        Row<width>(n, a.eps, tame, a.x + a.x_layout.Batch(i), residual, a.weight,
                   sum.Write(residual));
        sum.Wrote(residual);
      }
    };
    opcast::ParallelFor(launch, a.batch, RowsPerChunk(n), rows);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
