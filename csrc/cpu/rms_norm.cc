// y[i, j] = x[i, j] / sqrt(mean(x[i]^2) + eps) * weight[j], dense rows. Computed in double, where
// no square of a float overflows, and rounded once.
#include <cmath>

#include "float_row.h"
#include "rms_norm.gen.h"
#include "rows.h"
#include "scalar.h"

namespace opcast_ops {

opcast::Status RmsNorm(const RmsNormArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const int64_t n = a.N;
    opcast::ParallelFor(launch, a.batch, RowsPerChunk(n), [&a, n](int64_t begin, int64_t end) {
      FloatRow<T> x_row(n), weight_row(n), result(n);
      const float* weight = weight_row.Read(a.weight);
      for (int64_t i = begin; i < end; ++i) {
        const float* x = x_row.Read(a.x + i * n);
        T* y = a.y + i * n;
        float* to = result.Write(y);
        const double squares = Sum(n, [x](int64_t j) { return double{x[j]} * x[j]; });
        const double scale = 1 / std::sqrt(squares / static_cast<double>(n) + a.eps);
        for (int64_t j = 0; j < n; ++j) to[j] = Round<float>(x[j] * scale * weight[j]);
        result.Wrote(y);
      }
    });
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
