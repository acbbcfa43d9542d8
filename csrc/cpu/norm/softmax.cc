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

constexpr float kEnd = -104;        // results of at most the exponential are 0
constexpr int64_t kRoom = 1 << 18;  // weights that a thread keeps: rows of vocabularies
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

// The sum of f(x[j]) over a row; writes them to `weights`, if there is room. Fetches what the next
// row needs.
template <int kWidth, class F, class T>
inline double Summed(const Row<T>& row, F f, float* weights) {
  const auto store = [=](int64_t j, const Lanes<kWidth>& lanes, int64_t count) {
    if (weights != nullptr) lanes.Keep(weights + j, count);
    FetchToWrite(row.next_y + j);
    FetchToRead(row.next_x + j);
  };
  return MapAndSum<kWidth>(row.n, f, [](Floats<kWidth>*) {}, store, row.x);
}

// Calls use(f), where f(x) is e^(x - max) times a number that is the same for the row. Where max is
// near 0, nothing is subtracted from x in float: only the powers of two.
template <int kWidth, class T, class Use>
inline void WithWeight(float max, Use use) {
  const float size = __builtin_fabsf(max);
  if constexpr (std::is_same_v<T, float>) {
    if (size <= 88) return use(NearWeight<kWidth>{max + kEnd, static_cast<int32_t>(max * kLog2E)});
    return use([max](float x) { return Weight<kWidth>(x, max); });
  } else {
    const float shift = -max * kLog2E;
    if (size <= 1024)
      return use([=](float x) { return ShortWeight<kWidth>(Fma<kWidth>(x, kLog2E, shift)); });
    return use([max](float x) { return ShortWeight<kWidth>((x - max) * kLog2E); });
  }
}

// y of a row. `weights` has room for as many numbers: if that is not all of the row, each weight is
// computed twice, to the same bits, so that long rows need no more memory. It may be y.
template <int kWidth, class T>
inline void Normalise(bool past, const Row<T>& row, float* weights, int64_t room) {
  WithWeight<kWidth, T>(Max<kWidth>(row.n, row.x), [&](auto weigh) {
    const bool all = row.n <= room;
    const double sum = Summed<kWidth>(row, weigh, all ? weights : nullptr);
    const TwoFloats scale(1 / sum);
    const auto f = [=](float weight) {
      if constexpr (!std::is_same_v<T, float>) return weight * scale.high;
      return Fma<kWidth>(weight, scale.high, weight * scale.low);
    };
    for (int64_t j = 0; j < row.n; j += room) {
      const int64_t count = std::min(room, row.n - j);
      if (!all) Map<kWidth>(count, weigh, weights, row.x + j);
      if (std::isfinite(sum))
        MapTo<kWidth>(Stores<NoNan>{past}, count, f, row.y + j, weights);
      else
        MapTo<kWidth>(Stores<>{past}, count, f, row.y + j, weights);
    }
  });
}

}  // namespace

opcast::Status Softmax(const SoftmaxArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const int64_t n = a.N;
    const bool past = PastCache(launch, a.y, a.batch * n, 2);
    const auto rows = [&a, n, past](int64_t begin, int64_t end, auto width) {
      const bool apart = past || !std::is_same_v<T, float>;
      const FloatSpace space(apart ? std::min(n, kRoom) : 0);
      for (int64_t i = begin; i < end; ++i) {
        const int64_t at = i * n, next = i + 1 < end ? at + n : at;
        const Row<T> row = {n, a.x + at, a.x + next, a.y + at, a.y + next};
        // Results of float have room for the weights; but what goes past the cache must not be
        // brought into it.
        float* weights = space.Floats();
        if constexpr (std::is_same_v<T, float>) weights = apart ? weights : row.y;
        Normalise<width>(past, row, weights, apart ? kRoom : n);
      }
    };
    opcast::ParallelFor(launch, a.batch, RowsPerChunk(n), rows);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
