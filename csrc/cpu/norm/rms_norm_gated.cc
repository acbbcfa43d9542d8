// y[i, j] = x[i, j] * scale * weight[j] * silu(z[i, j]), rows with contiguous elements. The scale
// is 1 / sqrt(mean square + eps) of a group of a row's columns, of x or of x * silu(z). Computed in
// double, since a part may leave the range of floats although the result need not, and rounded
// once; only squares of x are floats where that is enough.
#include "cpu/lib/standard_headers.h"

#include "cpu/lib/exp.h"
#include "cpu/lib/map_elements.h"
#include "cpu/lib/row_reductions.h"
#include "cpu/lib/vector_loops.h"
#include "cpu/norm/norm_scale.h"
#include "rms_norm_gated.gen.h"

namespace opcast_ops {
namespace {

// gated[j] = x[j] * silu(z[j]); returns the sum of their squares.
template <int kWidth, class T>
inline double Gate(int64_t n, const T* x, const T* z, double* gated) {
  constexpr int kCount = Lanes<kWidth>::kCount;
  double sums[kCount] = {};
  ForLanes<kWidth>(n, [&](int64_t i, auto count) {
    const auto xs = LoadSome<kWidth>(x + i, count), zs = LoadSome<kWidth>(z + i, count);
    double values[kCount];
    for (int j = 0; j < kCount; ++j) {
      const double gate = zs.numbers[j];
      values[j] = gate * Sigmoid<kWidth>(gate) * xs.numbers[j];
    }
    for (int j = 0; j < kCount; ++j) sums[j] = Fma<kWidth>(values[j], values[j], sums[j]);
    std::memcpy(gated + i, values, static_cast<size_t>(count) * sizeof(double));
  });
  return Tree<kCount>(sums, [](double x, double y) { return x + y; });
}

// A group of n columns of a row.
template <int kWidth, class T, class W>
inline void NormaliseGroup(const RmsNormGatedArgs& args, int64_t n, const T* x, const T* z,
                           const W* weight, double* gated, T* y) {
  if (args.norm_before_gate) {
    const double scale = RmsScale(SumOfSquares<kWidth>(n, x), n, args.eps);
    const auto f = [scale](double x, double z, double weight) {
      return x * scale * weight * (z * Sigmoid<kWidth>(z));
    };
    Map<kWidth>(n, f, y, x, z, weight);
  } else {
    const double scale = RmsScale(Gate<kWidth>(n, x, z, gated), n, args.eps);
    const auto f = [scale](double x, double weight) { return x * scale * weight; };
    Map<kWidth>(n, f, y, gated, weight);
  }
}

}  // namespace

opcast::Status RmsNormGated(const RmsNormGatedArgs& args, const opcast::Launch& launch) {
  if (args.N == 0) return opcast::Status::Ok();
  return Visit(args, [&](const auto& a) {
    const int64_t n = a.group_size > 0 ? a.group_size : a.N;
    const auto rows = [&a, n](int64_t begin, int64_t end, auto width) {
      const std::unique_ptr<double[]> gated(new double[a.norm_before_gate ? 0 : n]);
      for (int64_t i = begin; i < end; ++i) {
        const auto* x = a.x + a.x_layout.Batch(i);
        const auto* z = a.z + a.z_layout.Batch(i);
        for (int64_t k = 0; k < a.N; k += n)
          NormaliseGroup<width>(a, n, x + k, z + k, a.weight + k, gated.get(), a.y + i * a.N + k);
      }
    };
    opcast::ParallelFor(launch, a.batch, RowsPerChunk(4 * a.N), rows);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
