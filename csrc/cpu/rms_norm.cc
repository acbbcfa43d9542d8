// y[i, j] = x[i, j] / sqrt(mean(x[i]^2) + eps) * weight[j], dense rows. Computed in float, where a
// sum of squares is right to 2.5 ulp, so its root to half of that; in double for rows whose squares
// leave the range of floats.
#include <cmath>

#include "convert.h"
#include "rms_norm.gen.h"
#include "rows.h"
#include "squares.h"

namespace opcast_ops {

opcast::Status RmsNorm(const RmsNormArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    const int64_t n = a.N;
    const auto rows = [&a, n](int64_t begin, int64_t end, auto width) {
      for (int64_t i = begin; i < end; ++i)
        Normalise<width>(a.x + i * n, a.weight, n, a.eps, a.y + i * n);
    };
    opcast::ParallelFor(launch, a.batch, RowsPerChunk(n), rows);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
