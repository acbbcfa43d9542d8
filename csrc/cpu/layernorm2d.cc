// y[i, j] = (x[i, j] - mean) / sqrt(variance + eps) * weight[j] + bias[j] with the mean and the
// population variance of row i, dense rows. Two passes, in double: the difference of mean squares
// would cancel when the mean is large. Rounded once.
#include <cmath>

#include "layernorm2d.gen.h"
#include "rows.h"
#include "scalar.h"

namespace ops {

opcast::Status Layernorm2d(const Layernorm2dArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](auto types) {
    using T = typename decltype(types)::T;
    const int64_t n = args.N;
    opcast::ParallelFor(launch, args.M, RowsPerChunk(n), [&args, n](int64_t begin, int64_t end) {
      const T* weight = static_cast<const T*>(args.weight);
      const T* bias = static_cast<const T*>(args.bias);
      for (int64_t i = begin; i < end; ++i) {
        const T* x = static_cast<const T*>(args.x) + i * n;
        T* y = static_cast<T*>(args.y) + i * n;
        const double mean = Sum(n, [x](int64_t j) -> double { return static_cast<float>(x[j]); }) /
                            static_cast<double>(n);
        const double squares = Sum(n, [x, mean](int64_t j) {
          const double centred = static_cast<float>(x[j]) - mean;
          return centred * centred;
        });
        const double scale = 1 / std::sqrt(squares / static_cast<double>(n) + args.eps);
        for (int64_t j = 0; j < n; ++j) {
          const double centred = static_cast<float>(x[j]) - mean;
          y[j] = Round<T>(centred * scale * static_cast<float>(weight[j]) +
                          static_cast<float>(bias[j]));
        }
      }
    });
    return opcast::Status::Ok();
  });
}

}  // namespace ops
