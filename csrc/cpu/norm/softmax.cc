// y[i, j] = exp(x[i, j] - max) / sum of the same over row i, dense rows. Computed in float, the sum
// in double but for sums of four; for float32 the exponential also gets what the difference of two
// floats loses, so that small probabilities are right too, and 1 / sum is two floats: within 2.7
// ulp. A row that holds NaN or +inf, or nothing but -inf, becomes NaN.
#include "cpu/lib/standard_headers.h"

#include <cmath>

#include "cpu/lib/exp_avx512.h"
#include "cpu/lib/map_elements.h"
#include "cpu/lib/row_reductions.h"
#include "softmax.gen.h"

namespace opcast_ops {
namespace {

template <class T>
struct Row {
  int64_t n;
  const T *x, *next_x;  // of the next row, or the same
  T *y, *next_y;
};

constexpr float kEnd = -104;  // results of at most the exponential are 0
constexpr int kUp = 64;  // weights are 2^kUp times what they stand for, so that none is denormal

// e^(x - max) 2^kUp to 0.92 ulp, at least that of e^kEnd, for x <= max.
template <int kWidth>
inline float Weight(float x, float max) {
  const float d = x - max, low = Lack(x, -max, d);
  const auto parts = SplitExp<kWidth>(Select(d < kEnd, kEnd, d), Select(d < kEnd, 0, low));
  return parts.template Fraction<kWidth>() * PowerOfTwo(parts.n, kUp);
}

// e^x 2^(kUp - shift), at least that of `end`.
template <int kWidth>
struct NearWeight {
  float end;
  int32_t shift;

  float operator()(float x) const {
    const auto parts = SplitExp<kWidth>(x < end ? end : x);
    return parts.template Fraction<kWidth>() * PowerOfTwo(parts.n, kUp - shift);
  }
};
#if defined(__x86_64__)
__attribute__((target(OPCAST_AVX512))) inline void MapLanes(const NearWeight<64>& f, Lanes<64>* y,
                                                            const Lanes<64>& x) {
  const __m512 end = _mm512_set1_ps(f.end), numbers = _mm512_load_ps(x.numbers);
  // Where one operand is NaN, the instruction gives the second: so NaN stay.
  const PowerAndRest exp = SplitExp(_mm512_maskz_max_ps(kAll, end, numbers), kUp - f.shift);
  _mm512_store_ps(y->numbers, _mm512_fmadd_ps(exp.power, exp.rest, exp.power));
}
#endif

// 2^(kUp + d) with a relative error of 2e-5, at least that of e^kEnd.
template <int kWidth>
inline float ShortWeight(float d) {
  constexpr float kLowest = kEnd * kLog2E;
  const auto parts = SplitPower<kWidth>(Select(d < kLowest, kLowest, d));
  return parts.template Fraction<kWidth>() * PowerOfTwo(parts.n, kUp);
}

// weights[j] = f(x[j]) for a row; returns their sum. Fetches what the next row needs.
template <int kWidth, class F, class T>
inline double Summed(const Row<T>& row, F f, float* weights) {
  const auto store = [=](int64_t j, const Lanes<kWidth>& lanes, int64_t count) {
    lanes.Keep(weights + j, count);
    FetchToWrite(row.next_y + j);
    FetchToRead(row.next_x + j);
  };
  return MapAndSum<kWidth>(row.n, f, [](Floats<kWidth>*) {}, store, row.x);
}

// weights[j] = e^(x[j] - max) times a number that is the same for the row; returns their sum. Where
// max is near 0, nothing is subtracted from x in float: only the powers of two.
template <int kWidth>
inline double Weights(const Row<float>& row, float max, float* weights) {
  if (__builtin_fabsf(max) <= 88) {
    const auto shift = static_cast<int32_t>(max * kLog2E);
    const float end = max + kEnd;
    return Summed<kWidth>(row, NearWeight<kWidth>{end, shift}, weights);
  }
  return Summed<kWidth>(row, [max](float x) { return Weight<kWidth>(x, max); }, weights);
}
template <int kWidth, class T>
inline double Weights(const Row<T>& row, float max, float* weights) {
  if (__builtin_fabsf(max) <= 1024) {
    const float shift = -max * kLog2E;
    const auto f = [=](float x) { return ShortWeight<kWidth>(Fma<kWidth>(x, kLog2E, shift)); };
    return Summed<kWidth>(row, f, weights);
  }
  const auto f = [max](float x) { return ShortWeight<kWidth>((x - max) * kLog2E); };
  return Summed<kWidth>(row, f, weights);
}

// y of a row; `weights` has room for its numbers, and may be y.
template <int kWidth, class T>
inline void Normalise(bool past, const Row<T>& row, float* weights) {
  const double sum = Weights<kWidth>(row, Max<kWidth>(row.n, row.x), weights);
  const TwoFloats scale(1 / sum);
  const auto f = [=](float weight) {
    if constexpr (!std::is_same_v<T, float>) return weight * scale.high;
    return Fma<kWidth>(weight, scale.high, weight * scale.low);
  };
  if (std::isfinite(sum)) {
    MapTo<kWidth>(Stores<NoNan>{past}, row.n, f, row.y, weights);
  } else {
    MapTo<kWidth>(Stores<>{past}, row.n, f, row.y, weights);
  }
}

}  // namespace

opcast::Status Softmax(const SoftmaxArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const int64_t n = a.N;
    const bool past = PastCache(launch, a.y, a.batch * n, 2);
    // A row of float results has room for its weights; but what goes past the cache must not be
    // brought into it.
    const bool apart = past || !std::is_same_v<T, float>;
    const auto rows = [&a, n, past, apart](int64_t begin, int64_t end, auto width) {
      const FloatSpace space(apart ? n : 0);
      for (int64_t i = begin; i < end; ++i) {
        const int64_t at = i * n, next = i + 1 < end ? at + n : at;
        const Row<T> row = {n, a.x + at, a.x + next, a.y + at, a.y + next};
        float* weights = space.Floats();
        if constexpr (std::is_same_v<T, float>) weights = apart ? weights : row.y;
        Normalise<width>(past, row, weights);
      }
    };
    opcast::ParallelFor(launch, a.batch, RowsPerChunk(n), rows);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
