// grad_x[i, j] = y[i, j] * (grad_y[i, j] - sum of grad_y * y over row i), dense rows. The sum is a
// double, and is subtracted as two floats, since the difference may cancel. For float32, the
// difference and its product with y are rounded to float. For 16 bits, grad_y * y is exact in
// float: what is subtracted from it is the sum times y, and then it is rounded to float and to its
// dtype. A row is read twice, the second time from the cache; results that are too many for the
// cache go past it.
#include "cpu/lib/standard_headers.h"

#include "cpu/lib/map_elements.h"
#include "cpu/lib/nan_free_vectors.h"
#include "cpu/lib/row_reductions.h"
#include "cpu/lib/row_sums.h"
#include "softmax_backward.gen.h"

namespace opcast_ops {
namespace {

template <class T>
struct Row {
  int64_t n, to_next;  // how far the next row is, or 0 where it need not be fetched
  bool past;           // the cache go its results: see streaming_stores.h
  const T *grad, *y;
  T* grad_x;
};

template <class T>
__attribute__((always_inline)) inline void FetchNext(const Row<T>& row, int64_t i) {
  FetchToRead(row.grad + row.to_next + i);
  FetchToRead(row.y + row.to_next + i);
}

// The sum of grad * y, also where products leave the range of floats. Fetches pages ahead.
template <int kWidth, class T>
inline double SumInDouble(const Row<T>& row) {
  WideLanes<kWidth> sum;
  ForLanes<kWidth>(row.n, [&](int64_t i, auto count) {
    FetchPage(FetchToRead, row.grad, i);
    FetchPage(FetchToRead, row.y, i);
    FetchPage(FetchToWrite, row.grad_x, i);
    sum.AddProduct(WideLanes<kWidth>(LoadSome<kWidth>(row.grad + i, count)),
                   WideLanes<kWidth>(LoadSome<kWidth>(row.y + i, count)));
  });
  return sum.Total();
}

// The same for 16 bits where they do not, as floats. There are two sums, since an addition has to
// wait for the one before.
template <int kWidth, class T>
inline double SumOfProducts(const Row<T>& row) {
  using S = Step<kWidth, T, 2>;
  WideLanes<kWidth> sums[2];
  ForParts<S::kCount>(row.n, [&](int64_t i, auto count) {
    S g, p;
    g.Load(row.grad + i, count);
    p.Load(row.y + i, count);
    for (int v = 0; v < 2; ++v) sums[v].Add(WideLanes<kWidth>(Product(g.vectors[v], p.vectors[v])));
  });
  sums[0].Add(sums[1]);
  return sums[0].Total();
}

// grad_x of a row for a sum that IsOrdinary or 0, so that no number of the row is infinite.
template <int kWidth>
inline void Gradients(const Row<float>& row, double sum) {
  const TwoFloats parts(sum);
  ForLanes<kWidth>(row.n, [=](int64_t i, auto count) {
    if (row.to_next > 0) FetchNext(row, i);
    const auto g = LoadSome<kWidth>(row.grad + i, count);
    auto p = LoadSome<kWidth>(row.y + i, count);
#pragma GCC unroll 1
    for (int j = 0; j < p.kCount; ++j) p.numbers[j] *= parts.SubtractFrom(g.numbers[j]);
    if (row.past && count == p.kCount)
      Stream(p, row.grad_x + i, NoNan());
    else
      p.StoreSome(row.grad_x + i, count, NoNan());
  });
}

// The same for 16 bits.
template <int kWidth, class T>
inline void Gradients(const Row<T>& row, double sum) {
  using S = Step<kWidth, T>;
  const TwoFloats parts(sum);
  ForParts<S::kCount>(row.n, [=](int64_t i, auto count) {
    if (row.to_next > 0) FetchNext(row, i);
    S g, p;
    g.Load(row.grad + i, count);
    p.Load(row.y + i, count);
    for (int v = 0; v < S::kVectors; ++v) {
      const auto product = Product(g.vectors[v], p.vectors[v]);
      float* const numbers = p.vectors[v].numbers;
#pragma GCC unroll 1
      for (int j = 0; j < S::kLanes; ++j) {
        const float rest = Fma<kWidth>(-numbers[j], parts.high, product.numbers[j]);
        numbers[j] = Fma<kWidth>(-numbers[j], parts.low, rest);
      }
    }
    if (row.past && count == S::kCount)
      p.Stream(row.grad_x + i);
    else
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

template <int kWidth, class T>
inline void OfRow(const Row<T>& row) {
  double sum = 0;
  if constexpr (!std::is_same_v<T, float>) sum = SumOfProducts<kWidth>(row);
  if (!IsOrdinary(sum)) sum = SumInDouble<kWidth>(row);
  if (sum == 0 || IsOrdinary(sum))
    Gradients<kWidth>(row, sum);
  else
    GradientsInDouble<kWidth>(row, sum);
}

}  // namespace

opcast::Status SoftmaxBackward(const SoftmaxBackwardArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const int64_t n = a.N;
    const bool many = ExceedsCache<T>(launch, a.batch * n, 3);
    const bool past = many && HasPage(a.grad_x + a.batch * n - 1);
    const auto rows = [&a, n, many, past](int64_t begin, int64_t end, auto width) {
      constexpr uintptr_t kBytes = Step<width, T>::kCount * sizeof(T);
      for (int64_t i = begin; i < end; ++i) {
        const int64_t at = i * n, to_next = many && i + 1 < end ? n : 0;
        T* const to = a.grad_x + at;
        const bool aligned = reinterpret_cast<uintptr_t>(to) % kBytes == 0;
        OfRow<width>(Row<T>{n, to_next, past && aligned, a.grad_y + at, a.y + at, to});
      }
      if (past) EndStream();
    };
    opcast::ParallelFor(launch, a.batch, RowsPerChunk(n), rows);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
