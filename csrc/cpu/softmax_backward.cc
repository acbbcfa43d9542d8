// grad_x[i, j] = y[i, j] * (grad_y[i, j] - sum of grad_y * y over row i), dense rows. The sum is a
// double, where its products are exact, and is subtracted as two floats, since the difference may
// cancel. Rounded once.
#include "convert.h"
#include "rows.h"
#include "softmax_backward.gen.h"

namespace opcast_ops {
namespace {

// One row.
template <int kWidth>
inline void Row(const float* grad, const float* y, int64_t n, float* to) {
  const float* const rows[] = {grad, y};
  const double sum =
      DoubleSum<kWidth>(n, rows, [](const auto* x, auto* sum) { sum->all += x[0].all * x[1].all; });
  if (sum > -0x1p100 && sum < 0x1p100) {
    const TwoFloats parts(sum);
    for (int64_t j = 0; j < n; ++j) to[j] = Round<float>(y[j] * parts.SubtractFrom(grad[j]));
  } else {  // a difference may leave the range of floats
    for (int64_t j = 0; j < n; ++j) to[j] = Round<float>(y[j] * (grad[j] - sum));
  }
}

}  // namespace

opcast::Status SoftmaxBackward(const SoftmaxBackwardArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const int64_t n = a.N;
    const auto rows = [&a, n](int64_t begin, int64_t end, auto width) {
      FloatRow<width, T> grad(n), y(n), result(n);
      for (int64_t i = begin; i < end; ++i) {
        T* grad_x = a.grad_x + i * n;
        Row<width>(grad.Read(a.grad_y + i * n), y.Read(a.y + i * n), n, result.Write(grad_x));
        result.Wrote(grad_x);
      }
    };
    opcast::ParallelFor(launch, a.batch, RowsPerChunk(n), rows);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
