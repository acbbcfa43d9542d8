// y[i, j] = x[i, j] / sqrt(mean(x[i]^2) + eps) * weight[j], dense rows. Computed in double, where
// no square or product of floats leaves the range, and rounded once.
#include <cmath>

#include "map.h"
#include "rms_norm.gen.h"
#include "rows.h"

namespace opcast_ops {

opcast::Status RmsNorm(const RmsNormArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    const int64_t n = a.N;
    const auto rows = [&a, n](int64_t begin, int64_t end, auto width) {
      for (int64_t i = begin; i < end; ++i) {
        const auto* x = a.x + i * n;
        const decltype(x) alone[] = {x};
        const double squares = DoubleSum<width>(n, alone, kAddSquare);
        const double scale = 1 / std::sqrt(squares / static_cast<double>(n) + a.eps);
        const auto f = [scale](double x, double weight) { return x * scale * weight; };
        Map<width>(n, f, a.y + i * n, x, a.weight);
      }
    };
    opcast::ParallelFor(launch, a.batch, RowsPerChunk(n), rows);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
