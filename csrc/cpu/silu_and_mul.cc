// y[i, j] = silu(x[i, j]) * x[i, D + j], dense rows. Computed in double, rounded once: a denormal
// silu times a large value keeps its bits.
#include "rows.h"
#include "scalar.h"
#include "silu_and_mul.gen.h"

namespace ops {

opcast::Status SiluAndMul(const SiluAndMulArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](auto types) {
    using T = typename decltype(types)::T;
    const int64_t n = args.D;
    opcast::ParallelFor(
        launch, args.batch, RowsPerChunk(n), [&args, n](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            const T* gate = static_cast<const T*>(args.x) + i * 2 * n;
            const T* value = gate + n;
            T* y = static_cast<T*>(args.y) + i * n;
            for (int64_t j = 0; j < n; ++j) {
              y[j] = Round<T>(Silu(static_cast<float>(gate[j])) * static_cast<float>(value[j]));
            }
          }
        });
    return opcast::Status::Ok();
  });
}

}  // namespace ops
