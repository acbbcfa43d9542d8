// y[i, j] = x[i, j] / sqrt(mean(x[i]^2) + eps) * weight[j], dense rows. Computed in float and
// rounded once, within 3.3 ulp of float32 and 0.51 ulp for 16 bits; in double where a part of that
// leaves the range of floats, although the result need not.
#include "cpu/lib/standard_headers.h"

#include "cpu/lib/map_elements.h"
#include "cpu/lib/row_reductions.h"
#include "cpu/norm/norm_scale.h"
#include "rms_norm.gen.h"

namespace opcast_ops {

opcast::Status RmsNorm(const RmsNormArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    const int64_t n = a.N;
    const bool past = PastCache(launch, a.y, a.batch * n, 2);
    const auto rows = [&a, n, past](int64_t begin, int64_t end, auto width) {
      const bool tame = AllOf<width>(n, HasRoom, a.weight);
      for (int64_t i = begin; i < end; ++i) {
        const auto* x = a.x + i * n;
        const double scale = RmsScale(SumOfSquares<width>(n, x), n, a.eps);
        Normalise<width>(past, n, scale, tame, a.y + i * n, x, a.weight);
      }
    };
    opcast::ParallelFor(launch, a.batch, RowsPerChunk(n), rows);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
