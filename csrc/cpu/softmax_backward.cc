// grad_x[i, j] = y[i, j] * (grad_y[i, j] - sum of grad_y * y over row i), dense rows. The sum is a
// double, where its products are exact, and is subtracted as two floats, since the difference may
// cancel. The difference and its product with y are rounded to float, then the result to its dtype.
#include "map.h"
#include "rows.h"
#include "softmax_backward.gen.h"

namespace opcast_ops {
namespace {

// One row.
template <int kWidth, class T>
inline void Row(const T* grad, const T* y, int64_t n, T* grad_x) {
  const T* const rows[] = {grad, y};
  const double sum =
      DoubleSum<kWidth>(n, rows, [](const auto* x, auto* sum) { sum->all += x[0].all * x[1].all; });
  if (sum > -0x1p100 && sum < 0x1p100) {
    const TwoFloats parts(sum);
    const auto f = [parts](float grad, float y) { return y * parts.SubtractFrom(grad); };
    Map<kWidth>(n, f, grad_x, grad, y);
  } else {  // a difference may leave the range of floats
    const auto f = [sum](double grad, double y) { return y * (grad - sum); };
    Map<kWidth>(n, f, grad_x, grad, y);
  }
}

}  // namespace

opcast::Status SoftmaxBackward(const SoftmaxBackwardArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    const int64_t n = a.N;
    const auto rows = [&a, n](int64_t begin, int64_t end, auto width) {
      for (int64_t i = begin; i < end; ++i)
        Row<width>(a.grad_y + i * n, a.y + i * n, n, a.grad_x + i * n);
    };
    opcast::ParallelFor(launch, a.batch, RowsPerChunk(n), rows);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
