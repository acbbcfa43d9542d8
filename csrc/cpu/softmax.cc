// y[i, j] = exp(x[i, j] - max) / sum of the same over row i, dense rows. Computed in float, the sum
// in double but for sums of two; for float32 the exponential also gets what the difference of two
// floats loses, so that small probabilities are right too, and 1 / sum is two floats. A row that
// holds NaN or +inf, or nothing but -inf, becomes NaN.
#include "exp.h"
#include "map.h"
#include "rows.h"
#include "softmax.gen.h"

namespace opcast_ops {
namespace {

constexpr float kEnd = -104;  // below, the exponential is 0

// e^(x - max) to 0.92 ulp, for x <= max.
template <int kWidth>
inline float Weight(float x, float max) {
  const float d = x - max, back = d - x;
  const float low = (x - (d - back)) - (max + back);  // what d lacks, as in Knuth's TwoSum
  const auto parts = SplitExp<kWidth>(d, low);
  return Select(d < kEnd, 0.0f, ScaleDown(parts.template Fraction<kWidth>(), parts.n));
}

// The same with a relative error of 2e-5.
template <int kWidth>
inline float ShortWeight(float x, float max) {
  const float d = x - max;
  const auto parts = SplitPower<kWidth>(d * kLog2E);
  return Select(d < kEnd, 0.0f, ScaleDown(parts.template Fraction<kWidth>(), parts.n));
}

// One row; `weights` has room for its numbers.
template <int kWidth, class T>
inline void Row(const T* x, int64_t n, float* weights, T* y) {
  const float max = Max<kWidth>(n, x);
  if constexpr (std::is_same_v<T, float>) {
    Map<kWidth>(n, [max](float x) { return Weight<kWidth>(x, max); }, weights, x);
  } else {
    Map<kWidth>(n, [max](float x) { return ShortWeight<kWidth>(x, max); }, weights, x);
  }
  const TwoFloats scale(1 / SumOfPairs<kWidth>(n, weights));
  const auto f = [=](float weight) {
    if constexpr (!std::is_same_v<T, float>) return weight * scale.high;
    return Fma<kWidth>(weight, scale.high, weight * scale.low);
  };
  Map<kWidth>(n, f, y, weights);
}

}  // namespace

opcast::Status Softmax(const SoftmaxArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const int64_t n = a.N;
    const auto rows = [&a, n](int64_t begin, int64_t end, auto width) {
      FloatRow<width, T> space(n);
      for (int64_t i = begin; i < end; ++i) {
        T* y = a.y + i * n;
        Row<width>(a.x + i * n, n, space.Write(y), y);
      }
    };
    opcast::ParallelFor(launch, a.batch, RowsPerChunk(n), rows);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
