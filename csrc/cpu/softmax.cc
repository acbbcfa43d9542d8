// y[i, j] = exp(x[i, j] - max) / sum of the same over row i, dense rows. Computed in double, so
// that small probabilities are right too, and rounded once. A row that holds NaN or +inf, or
// nothing but -inf, becomes NaN.
#include <limits>
#include <memory>

#include "float_row.h"
#include "rows.h"
#include "scalar.h"
#include "softmax.gen.h"

namespace opcast_ops {

opcast::Status Softmax(const SoftmaxArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const int64_t n = a.N;
    opcast::ParallelFor(launch, a.batch, RowsPerChunk(n), [&a, n](int64_t begin, int64_t end) {
      FloatRow<T> x_row(n), result(n);
      const std::unique_ptr<double[]> space(new double[n]);
      double* const weights = space.get();
      for (int64_t i = begin; i < end; ++i) {
        const float* x = x_row.Read(a.x + i * n);
        T* y = a.y + i * n;
        float* to = result.Write(y);
        const auto larger = [](float a, float b) { return b > a ? b : a; };
        const double max = Reduce(
            n, -std::numeric_limits<float>::infinity(), [x](int64_t j) { return x[j]; }, larger);
        for (int64_t j = 0; j < n; ++j) weights[j] = Exp(x[j] - max);
        const double scale = 1 / Sum(n, [weights](int64_t j) { return weights[j]; });
        for (int64_t j = 0; j < n; ++j) to[j] = Round<float>(weights[j] * scale);
        result.Wrote(y);
      }
    });
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
