// y[i, j] = silu(x[i, j]) * x[i, D + j], dense rows. Computed in float, rounded once; a silu below
// the range of floats times a large value keeps its bits.
#include "gate.h"
#include "map.h"
#include "rows.h"
#include "silu_and_mul.gen.h"

namespace opcast_ops {

opcast::Status SiluAndMul(const SiluAndMulArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    const int64_t n = a.D;
    const auto rows = [&a, n](int64_t begin, int64_t end, auto width) {
      const auto f = [=](float gate, float value) { return Gated<width>(gate, gate, 0, value); };
      for (int64_t i = begin; i < end; ++i) {
        const auto* gate = a.x + i * 2 * n;
        Map<width>(n, f, a.y + i * n, gate, gate + n);
      }
    };
    opcast::ParallelFor(launch, a.batch, RowsPerChunk(n), rows);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
