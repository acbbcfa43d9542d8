// grad_x[i, j] = y[i, j] * (grad_y[i, j] - sum of grad_y * y over row i), dense rows. The sum is a
// double, and is subtracted as two floats, since the difference may cancel. For float32, the
// difference and its product with y are rounded to float. For 16 bits, grad_y * y is exact in
// float, and is kept: what is subtracted from it is the sum times y, and then it is rounded to
// float and to its dtype.
#include "common/standard.h"

#include "map.h"
#include "row_sums.h"
#include "rows.h"
#include "softmax_backward.gen.h"
#include "step.h"

namespace opcast_ops {
namespace {

template <class T>
struct Row {
  int64_t n, to_next;  // how far the next row is, or 0
  const T *grad, *y;
  T* grad_x;
};

// The sum of grad * y.
template <int kWidth, class T>
inline double SumInDouble(const Row<T>& row) {
  WideLanes<kWidth> sum;
  ForLanes<kWidth>(row.n, [&](int64_t i, auto count) {
    FetchToWrite(row.grad_x + i);
    sum.AddProduct(WideLanes<kWidth>(LoadSome<kWidth>(row.grad + i, count)),
                   WideLanes<kWidth>(LoadSome<kWidth>(row.y + i, count)));
  });
  return sum.Total();
}

// The same for 16 bits, but for products that leave the range of floats. Keeps the products.
template <int kWidth, class T>
inline double SumOfProducts(const Row<T>& row, float* products) {
  using S = Step<kWidth, T>;
  WideLanes<kWidth> sum;
  ForParts<S::kCount>(row.n, [&](int64_t i, auto count) {
    FetchToWrite(row.grad_x + i);
    S g, p;
    g.Load(row.grad + i, count);
    p.Load(row.y + i, count);
    for (int v = 0; v < S::kVectors; ++v) {
      const auto product = Product(g.vectors[v], p.vectors[v]);
      product.Keep(products + i + v * S::kLanes, S::kLanes);
      sum.Add(WideLanes<kWidth>(product));
    }
  });
  return sum.Total();
}

// grad_x of a row for a sum that IsOrdinary or 0, so that no number of the row is infinite.
template <int kWidth>
inline void Gradients(const Row<float>& row, double sum) {
  const TwoFloats parts(sum);
  ForLanes<kWidth>(row.n, [=](int64_t i, auto count) {
    FetchToRead(row.grad + row.to_next + i);
    FetchToRead(row.y + row.to_next + i);
    const auto g = LoadSome<kWidth>(row.grad + i, count);
    auto p = LoadSome<kWidth>(row.y + i, count);
#pragma GCC unroll 1
    for (int j = 0; j < p.kCount; ++j) p.numbers[j] *= parts.SubtractFrom(g.numbers[j]);
    p.StoreSome(row.grad_x + i, count, NoNan());
  });
}

// The same for 16 bits.
template <int kWidth, class T>
inline void Gradients(const Row<T>& row, double sum, const float* products) {
  using S = Step<kWidth, T>;
  const TwoFloats parts(sum);
  ForParts<S::kCount>(row.n, [=](int64_t i, auto count) {
    FetchToRead(row.grad + row.to_next + i);
    FetchToRead(row.y + row.to_next + i);
    S p;
    p.Load(row.y + i, count);
    for (int v = 0; v < S::kVectors; ++v) {
      const auto product = Load<kWidth>(products + i + v * S::kLanes);
      float* const numbers = p.vectors[v].numbers;
#pragma GCC unroll 1
      for (int j = 0; j < S::kLanes; ++j) {
        const float rest = Fma<kWidth>(-numbers[j], parts.high, product.numbers[j]);
        numbers[j] = Fma<kWidth>(-numbers[j], parts.low, rest);
      }
    }
    p.Store(row.grad_x + i, count);
  });
}

// The same where a difference may leave the range of floats.
template <int kWidth, class T>
inline void GradientsInDouble(const Row<T>& row, double sum) {
  const auto f = [sum](double grad, double y) { return y * (grad - sum); };
  Map<kWidth>(row.n, f, row.grad_x, row.grad, row.y);
}

// Whether no part of the sum of weight left the range of floats, and the sum is two of them.
inline bool IsOrdinary(double sum) {
  return __builtin_fabs(sum) > 0x1p-90 && __builtin_fabs(sum) < 0x1p100;
}

// One row; `products` has room for a step more than its numbers.
template <int kWidth>
inline void OfRow(const Row<float>& row, float*) {
  const double sum = SumInDouble<kWidth>(row);
  if (sum == 0 || IsOrdinary(sum))
    Gradients<kWidth>(row, sum);
  else
    GradientsInDouble<kWidth>(row, sum);
}
template <int kWidth, class T>
inline void OfRow(const Row<T>& row, float* products) {
  double sum = SumOfProducts<kWidth>(row, products);
  if (IsOrdinary(sum)) return Gradients<kWidth>(row, sum, products);
  sum = SumInDouble<kWidth>(row);
  if (sum == 0)
    Gradients<kWidth>(row, 0, products);
  else
    GradientsInDouble<kWidth>(row, sum);
}

}  // namespace

opcast::Status SoftmaxBackward(const SoftmaxBackwardArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const int64_t n = a.N;
    const auto rows = [&a, n](int64_t begin, int64_t end, auto width) {
      const FloatSpace products(std::is_same_v<T, float> ? 0 : n + Step<width, T>::kCount);
      for (int64_t i = begin; i < end; ++i) {
        const int64_t at = i * n, to_next = i + 1 < end ? n : 0;
        OfRow<width>(Row<T>{n, to_next, a.grad_y + at, a.y + at, a.grad_x + at}, products.Floats());
      }
    };
    opcast::ParallelFor(launch, a.batch, RowsPerChunk(n), rows);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
