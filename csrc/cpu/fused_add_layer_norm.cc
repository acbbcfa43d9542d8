// With h = x + residual: x[i, j] becomes (h[i, j] - mean) / sqrt(variance + eps) * weight[j] +
// bias[j] with the mean and the population variance of h[i], and residual becomes h; rows with
// contiguous elements. The sum that is normalised is double, since differences to the mean may
// cancel, and each result is rounded once. See layer_norm.h.
#include "fused_add_layer_norm.gen.h"
#include "layer_norm.h"
#include "walk.h"

namespace opcast_ops {
namespace {

template <int kWidth, class T, class W>
inline void Row(T* x, T* residual, const W* weight, const W* bias, int64_t n, double eps) {
  const T* const both[] = {x, residual};
  const layer_norm::Wide<kWidth, AnyNan> by(layer_norm::MomentsOf<kWidth>(both, n, eps));
  ForLanes<kWidth>(n, [=](int64_t i, auto count) {
    auto update = LoadSome<kWidth>(x + i, count), stream = LoadSome<kWidth>(residual + i, count);
    const auto weights = LoadSome<kWidth>(weight + i, count),
               biases = LoadSome<kWidth>(bias + i, count);
#pragma GCC unroll 1
    for (int j = 0; j < Lanes<kWidth>::kCount; ++j) {
      const double sum = double{update.numbers[j]} + double{stream.numbers[j]};
      update.numbers[j] = static_cast<float>(by(sum, weights.numbers[j], biases.numbers[j]));
      stream.numbers[j] = static_cast<float>(sum);
    }
    update.StoreSome(x + i, count);
    stream.StoreSome(residual + i, count);
  });
}

}  // namespace

opcast::Status FusedAddLayerNorm(const FusedAddLayerNormArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using W = typename std::decay_t<decltype(a)>::W;
    const auto rows = [&a](int64_t begin, int64_t end, auto width) {
      const layer_norm::RowOrZeros<W> bias(a.bias, a.N);
      for (int64_t i = begin; i < end; ++i)
        Row<width>(a.x + a.x_layout.Batch(i), a.residual + a.residual_layout.Batch(i), a.weight,
                   bias.Get(), a.N, a.eps);
    };
    opcast::ParallelFor(launch, a.batch, RowsPerChunk(a.N), rows);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
