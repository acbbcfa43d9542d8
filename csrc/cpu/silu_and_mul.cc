// y[i, j] = silu(x[i, j]) * x[i, D + j], dense rows. Computed in double, rounded once: a denormal
// silu times a large value keeps its bits.
#include "rows.h"
#include "scalar.h"
#include "silu_and_mul.gen.h"

namespace opcast_ops {

opcast::Status SiluAndMul(const SiluAndMulArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const int64_t n = a.D;
    opcast::ParallelFor(launch, a.batch, RowsPerChunk(n), [&a, n](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const T* gate = a.x + i * 2 * n;
        const T* value = gate + n;
        T* y = a.y + i * n;
        for (int64_t j = 0; j < n; ++j) {
          y[j] = Round<T>(Silu(static_cast<float>(gate[j])) * static_cast<float>(value[j]));
        }
      }
    });
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
