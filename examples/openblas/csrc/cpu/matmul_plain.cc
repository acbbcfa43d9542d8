// c = a @ b, row by row: adds the rows of b, times an element of a each, in the order of b's rows.
// Sums are float.
#include <algorithm>

#include "matmul.gen.h"

namespace linalg_ops {

opcast::Status MatmulPlain(const MatmulArgs& args, const opcast::Launch& launch) {
  const auto rows = [&args](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const float* a = args.a + i * args.K;
      float* c = args.c + i * args.N;
      std::fill_n(c, args.N, 0.0f);
      for (int64_t k = 0; k < args.K; ++k) {
        const float* b = args.b + k * args.N;
        for (int64_t j = 0; j < args.N; ++j) c[j] += a[k] * b[j];
      }
    }
  };
  opcast::ParallelFor(launch, args.batch * args.M, 4, rows);
  return opcast::Status::Ok();
}

}  // namespace linalg_ops
