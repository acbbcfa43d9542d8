// y[i, j] = exp(x[i, j] - max) / sum of the same over row i, dense rows. Computed in double, so
// that small probabilities are right too, and rounded once. A row that holds NaN or +inf, or
// nothing but -inf, becomes NaN.
#include <limits>

#include "rows.h"
#include "scalar.h"
#include "softmax.gen.h"

namespace ops {

opcast::Status Softmax(const SoftmaxArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](auto types) {
    using T = typename decltype(types)::T;
    const int64_t n = args.N;
    opcast::ParallelFor(
        launch, args.batch, RowsPerChunk(n), [&args, n](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            const T* x = static_cast<const T*>(args.x) + i * n;
            T* y = static_cast<T*>(args.y) + i * n;
            const auto value = [x](int64_t j) { return static_cast<float>(x[j]); };
            const auto larger = [](float a, float b) { return b > a ? b : a; };
            const double max = Reduce(n, -std::numeric_limits<float>::infinity(), value, larger);
            const auto weight = [value, max](int64_t j) { return Exp(value(j) - max); };
            // The weights are computed twice: storing them would round them to T or need a row of
            // scratch.
            const double scale = 1 / Sum(n, weight);
            for (int64_t j = 0; j < n; ++j) y[j] = Round<T>(weight(j) * scale);
          }
        });
    return opcast::Status::Ok();
  });
}

}  // namespace ops
