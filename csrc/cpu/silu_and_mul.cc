// y[i, j] = silu(x[i, j]) * x[i, D + j], dense rows. Computed in double, since a silu
// below the range of floats times a large value is in it; in float for float16. Rounded once.
#include "gate.h"
#include "map.h"
#include "rows.h"
#include "silu_and_mul.gen.h"

namespace opcast_ops {

opcast::Status SiluAndMul(const SiluAndMulArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    constexpr bool kNarrow = std::is_same_v<typename std::decay_t<decltype(a)>::T, opcast::f16>;
    using V = std::conditional_t<kNarrow, float, double>;
    const int64_t n = a.D;
    const auto rows = [&a, n](int64_t begin, int64_t end, auto width) {
      const auto f = [=](V gate, V value) { return gate * Sigmoid<width>(gate) * value; };
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
