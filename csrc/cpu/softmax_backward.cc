// grad_x[i, j] = y[i, j] * (grad_y[i, j] - sum of grad_y * y over row i), dense rows. Computed in
// double, where the products of the sum are exact, and rounded once.
#include "float_row.h"
#include "rows.h"
#include "scalar.h"
#include "softmax_backward.gen.h"

namespace opcast_ops {

opcast::Status SoftmaxBackward(const SoftmaxBackwardArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const int64_t n = a.N;
    opcast::ParallelFor(launch, a.batch, RowsPerChunk(n), [&a, n](int64_t begin, int64_t end) {
      FloatRow<T> grad_row(n), y_row(n), result(n);
      for (int64_t i = begin; i < end; ++i) {
        const float* grad = grad_row.Read(a.grad_y + i * n);
        const float* y = y_row.Read(a.y + i * n);
        T* grad_x = a.grad_x + i * n;
        float* to = result.Write(grad_x);
        const double sum = Sum(n, [grad, y](int64_t j) { return double{grad[j]} * y[j]; });
        for (int64_t j = 0; j < n; ++j) to[j] = Round<float>(y[j] * (grad[j] - sum));
        result.Wrote(grad_x);
      }
    });
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
