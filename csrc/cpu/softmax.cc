// y[i, j] = exp(x[i, j] - max) / sum of the same over row i, dense rows. Computed in float, the sum
// in double; the exponential also gets what the difference of two floats loses, so that small
// probabilities are right too. A row that holds NaN or +inf, or nothing but -inf, becomes NaN.
#include "exp.h"
#include "map.h"
#include "rows.h"
#include "softmax.gen.h"

namespace opcast_ops {
namespace {

// e^(x - max), where kExact says whether the difference counts beyond the precision of a float.
template <int kWidth, bool kExact>
inline float Weight(float x, float max) {
  const float d = x - max;
  if constexpr (!kExact) return Exp<kWidth>(d);
  const float back = d - x;  // the two errors of the difference, as in Knuth's TwoSum
  const float low = (x - (d - back)) - (max + back);
  return Exp<kWidth>(d, Select(d < -110, 0.0f, low));  // where the weight is 0, they may be NaN
}

// One row, as floats.
template <int kWidth, class T>
inline void Row(const T* x, int64_t n, float* y) {
  const float max = Max<kWidth>(n, x);
  constexpr bool kExact = std::is_same_v<T, float>;
  Map<kWidth>(n, [max](float x) { return Weight<kWidth, kExact>(x, max); }, y, x);
  const float* const weights[] = {y};
  const double sum = DoubleSum<kWidth>(n, weights, kAddFirst);
  const float scale = static_cast<float>(1 / sum);
  for (int64_t j = 0; j < n; ++j) y[j] = Round<float>(y[j] * scale);
}

}  // namespace

opcast::Status Softmax(const SoftmaxArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const int64_t n = a.N;
    const auto rows = [&a, n](int64_t begin, int64_t end, auto width) {
      FloatRow<width, T> result(n);
      for (int64_t i = begin; i < end; ++i) {
        T* y = a.y + i * n;
        Row<width>(a.x + i * n, n, result.Write(y));
        result.Wrote(y);
      }
    };
    opcast::ParallelFor(launch, a.batch, RowsPerChunk(n), rows);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
