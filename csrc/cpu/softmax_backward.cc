// grad_x[i, j] = y[i, j] * (grad_y[i, j] - sum of grad_y * y over row i), dense rows. The sum is a
// double, where its products are exact, and is subtracted as two floats, since the difference may
// cancel. The difference and its product with y are rounded to float, then the result to its dtype.
#include "map.h"
#include "row_sums.h"
#include "rows.h"
#include "softmax_backward.gen.h"
#include "step.h"

namespace opcast_ops {
namespace {

// kExact says that floats have room for the products, but for their range.
template <int kWidth, bool kExact, class T>
inline double SumOfProducts(const T* grad, const T* y, int64_t n) {
  using S = Step<kWidth, T>;
  WideLanes<kWidth> sum;
  ForParts<S::kCount>(n, [&](int64_t i, auto count) {
    S g, p;
    g.Load(grad + i, count);
    p.Load(y + i, count);
    for (int v = 0; v < S::kVectors; ++v) {
      if constexpr (kExact) {
        sum.Add(WideLanes<kWidth>(Product(g.vectors[v], p.vectors[v])));
      } else {
        sum.AddProduct(WideLanes<kWidth>(g.vectors[v]), WideLanes<kWidth>(p.vectors[v]));
      }
    }
  });
  return sum.Total();
}

// grad_x of a row for a sum that IsOrdinary or 0, so that no number of the row is infinite.
template <int kWidth, class T>
inline void Gradients(const T* grad, const T* y, int64_t n, double sum, T* grad_x) {
  using S = Step<kWidth, T>;
  const TwoFloats parts(sum);
  ForParts<S::kCount>(n, [=](int64_t i, auto count) {
    S g, p;
    g.Load(grad + i, count);
    p.Load(y + i, count);
    for (int v = 0; v < S::kVectors; ++v) {
      for (int j = 0; j < S::kLanes; ++j)
        g.vectors[v].numbers[j] =
            p.vectors[v].numbers[j] * parts.SubtractFrom(g.vectors[v].numbers[j]);
    }
    g.Store(grad_x + i, count);
  });
}

// Whether no part of the sum of weight left the range of floats, and the sum is two of them.
inline bool IsOrdinary(double sum) {
  return __builtin_fabs(sum) > 0x1p-90 && __builtin_fabs(sum) < 0x1p100;
}

// One row.
template <int kWidth, class T>
inline void Row(const T* grad, const T* y, int64_t n, T* grad_x) {
  double sum = SumOfProducts<kWidth, !std::is_same_v<T, float>>(grad, y, n);
  if (!IsOrdinary(sum)) sum = SumOfProducts<kWidth, false>(grad, y, n);
  if (sum == 0 || IsOrdinary(sum)) {
    Gradients<kWidth>(grad, y, n, sum, grad_x);
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
