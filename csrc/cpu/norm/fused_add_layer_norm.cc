// With h = x + residual: x[i, j] becomes (h[i, j] - mean) / sqrt(variance + eps) * weight[j] +
// bias[j] with the mean and the population variance of h[i], and residual becomes h; rows with
// contiguous elements. The sum that is normalised is double, since differences to the mean may
// cancel, and each result is rounded once. See layer_norm.h.
#include "cpu/lib/standard_headers.h"

#include <memory>

#include "cpu/lib/row_sums.h"
#include "cpu/lib/vector_loops.h"
#include "cpu/norm/layer_norm.h"
#include "fused_add_layer_norm.gen.h"

namespace opcast_ops {
namespace {

// A row as doubles, zeros if it is absent: what rows share is converted once for those of a chunk.
template <int kWidth, class W>
inline std::unique_ptr<double[]> InDouble(const W* row, int64_t n) {
  std::unique_ptr<double[]> wide(row == nullptr ? new double[n]() : new double[n]);
  if (row == nullptr) return wide;
  ForLanes<kWidth>(n, [row, to = wide.get()](int64_t i, auto count) {
    WideLanes<kWidth>(LoadSome<kWidth>(row + i, count)).Store(to + i, count);
  });
  return wide;
}

// A row's sums, kept for the pass after that over their mean: as doubles, so that no number is
// converted twice. `sums` has room for a vector more than n.
template <int kWidth, class T>
inline layer_norm::Moments AddRow(const T* x, T* residual, int64_t n, double eps, double* sums) {
  constexpr int64_t kCount = Lanes<kWidth>::kCount;
  const double first =
      n == 0 ? 0 : static_cast<double>(static_cast<float>(x[0])) + static_cast<float>(residual[0]);
  const double base = std::isfinite(first) ? first : 0;
  WideLanes<kWidth> distances, squares;
  ForLanes<kWidth>(n, [&](int64_t i, auto count) {
    WideLanes<kWidth> sum(LoadSome<kWidth>(x + i, count));
    const WideLanes<kWidth> other(LoadSome<kWidth>(residual + i, count));
    for (int k = 0; k < 2; ++k) sum.halves[k].all += other.halves[k].all;
    sum.Narrow().StoreSome(residual + i, count);
    sum.Store(sums + i, count);
    if (count < kCount) {
      std::fill(sums + i + count, sums + i + kCount, base);
      sum.Load(sums + i, kCount);
    }
    sum.Subtract(base);
    for (int k = 0; k < 2; ++k) distances.halves[k].all += sum.halves[k].all;
    squares.AddProduct(sum, sum);
  });
  const layer_norm::Sums both{{distances.Total(), squares.Total()}, base};
  return both.Of(static_cast<double>(n), eps);
}

template <int kWidth, class T>
inline void Row(T* x, T* residual, const double* weight, const double* bias, int64_t n, double eps,
                double* sums) {
  const layer_norm::Moments row = AddRow<kWidth>(x, residual, n, eps, sums);
  ForLanes<kWidth>(n, [=](int64_t i, auto count) {
    WideLanes<kWidth> sum, weights, normal;
    sum.Load(sums + i, count);
    weights.Load(weight + i, count);
    normal.Load(bias + i, count);
    for (int k = 0; k < 2; ++k) {
      Doubles<kWidth> scaled;
      scaled.all = (sum.halves[k].all - row.mean) * row.rstd;
      MultiplyAdd(scaled, weights.halves[k], &normal.halves[k]);
    }
    normal.Narrow().StoreSome(x + i, count);
  });
}

}  // namespace

opcast::Status FusedAddLayerNorm(const FusedAddLayerNormArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    const auto rows = [&a](int64_t begin, int64_t end, auto width) {
      const auto weight = InDouble<width>(a.weight, a.N), bias = InDouble<width>(a.bias, a.N);
      const std::unique_ptr<double[]> sums(new double[a.N + Lanes<width>::kCount]);
      for (int64_t i = begin; i < end; ++i)
        Row<width>(a.x + a.x_layout.Batch(i), a.residual + a.residual_layout.Batch(i), weight.get(),
                   bias.get(), a.N, a.eps, sums.get());
    };
    opcast::ParallelFor(launch, a.batch, RowsPerChunk(a.N), rows);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
