// With h = x + residual: x[i, j] becomes h[i, j] / sqrt(mean(h[i]^2) + eps) * weight[j] and
// residual becomes h; rows with contiguous elements. The sum is a float, so that its rounding to a
// dtype of 16 bits does not enter the norm. See rms_norm.cc.
#include "cpu/lib/standard_headers.h"

#include "cpu/lib/float_conversion.h"
#include "cpu/lib/map_elements.h"
#include "cpu/lib/row_reductions.h"
#include "cpu/norm/norm_scale.h"
#include "fused_add_rms_norm.gen.h"

namespace opcast_ops {
namespace {

// residual = x + residual for a row, and so `sum`, which has room for it in float where T has not;
// returns the sum of squares.
template <int kWidth, class T>
inline double Add(int64_t n, const T* x, T* residual, float* sum) {
  const auto add = [](float x, float residual) { return x + residual; };
  const auto square = [](Floats<kWidth>* h) { h->all *= h->all; };
  const auto store = [=](int64_t j, const Lanes<kWidth>& h, int64_t count) {
    h.StoreSome(residual + j, count, NoNan());
    if constexpr (!std::is_same_v<T, float>) h.Keep(sum + j, count);
  };
  const double squares = MapAndSum<kWidth>(n, add, square, store, x, residual);
  if (IsOrdinary(squares, n)) return squares;
  Map<kWidth>(n, [](float h) { return h; }, residual, sum);  // there may be NaN
  const float* const alone[] = {sum};
  return DoubleSum<kWidth>(n, alone, kAddSquare);
}

}  // namespace

opcast::Status FusedAddRmsNorm(const FusedAddRmsNormArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const int64_t n = a.N;
    const auto rows = [&a, n](int64_t begin, int64_t end, auto width) {
      const bool tame = AllOf<width>(n, HasRoom, a.weight);
      const std::unique_ptr<float[]> space(new float[std::is_same_v<T, float> ? 0 : n]);
      for (int64_t i = begin; i < end; ++i) {
        T *x = a.x + a.x_layout.Batch(i), *residual = a.residual + a.residual_layout.Batch(i);
        float* sum = space.get();
        if constexpr (std::is_same_v<T, float>) sum = residual;
        const double squares = Add<width>(n, x, residual, sum);
        Normalise<width>(false, n, RmsScale(squares, n, a.eps), tame, x, sum, a.weight);
      }
    };
    opcast::ParallelFor(launch, a.batch, RowsPerChunk(n), rows);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
