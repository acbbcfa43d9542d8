// v = (e^s_a v_a + e^s_b v_b) / (e^s_a + e^s_b) and s = log(e^s_a + e^s_b) for each row, dense
// rows: see state_merge.h for the precision. A part without keys is not read. The
// weights of a vector of rows are made at once. For 16 bits, each is the sum of two floats, of
// which the first is so short that its products are exact: the sum of those is rounded once, and
// that of the others is smaller by 2^-12 at least.
#include "cpu/lib/standard_headers.h"

#include "cpu/attention/state_merge.h"
#include "cpu/lib/row_reductions.h"
#include "cpu/lib/vector_loops.h"
#include "merge_state.gen.h"

namespace opcast_ops {
namespace {

// What is left of a double when all but the first bits are cleared, as many as the product with a T
// leaves room for in a float.
template <class T>
inline double FirstBits(double x) {
  constexpr int kBits = std::is_same_v<T, opcast::bf16> ? 16 : 13;
  uint64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  bits &= ~uint64_t{0} << (53 - kBits);
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

// A weight as two floats, the second above 0, so that an infinite number stays what it is.
struct WeightParts {
  float high, low;
};
template <class T>
inline WeightParts SplitWeight(double weight) {
  const double high = FirstBits<T>(weight);
  const double low = std::max(weight - high, 0x1p-126);
  return {static_cast<float>(high), static_cast<float>(low)};
}

// v = x * a + y * b, for weights that are not so small that floats lack their last places.
template <int kWidth, class T>
inline void WriteShortSums(const T* x, WeightParts a, const T* y, WeightParts b, int64_t n,
                           bool past, T* v) {
  ForLanes<kWidth>(n, [=](int64_t i, auto count) {
    auto sums = LoadSome<kWidth>(x + i, count);
    const auto others = LoadSome<kWidth>(y + i, count);
#pragma GCC unroll 1
    for (int j = 0; j < Lanes<kWidth>::kCount; ++j) {
      const float s = sums.numbers[j], t = others.numbers[j];
      sums.numbers[j] = Fma<kWidth>(s, a.high, t * b.high) + Fma<kWidth>(s, a.low, t * b.low);
    }
    StoreSums(sums, past, v + i, count);
  });
}
constexpr double kLeastShortWeight = 0x1p-100;

// The weights of two parts, and the log-sum-exp of both, for a vector of rows.
template <int kWidth>
struct Weights {
  static constexpr int kCount = Lanes<kWidth>::kCount;

  double a[kCount], b[kCount];
  float s[kCount];

  // The larger power of e is 1. Where one of the numbers is NaN, all is.
  Weights(const Lanes<kWidth>& s_a, const Lanes<kWidth>& s_b) {
    constexpr double kEnd = -700;  // below, a weight is zero as a float
#pragma GCC unroll 1
    for (int l = 0; l < kCount; ++l) {
      const double x = s_a.numbers[l], y = s_b.numbers[l];
      const double less = Select(x == y, 0.0, -__builtin_fabs(x - y));
      const double power = Exp<kWidth>(Select(less < kEnd, kEnd, less));
      const double large = 1 / (1 + power), small = power * large;
      a[l] = Select(x >= y, large, small);
      b[l] = Select(x >= y, small, large);
      s[l] = static_cast<float>(Select(x >= y, x, y) + LogOnePlus<kWidth>(power));
    }
  }
};

// The sum of two parts for a row of n numbers.
template <int kWidth, class T>
inline void WriteBoth(const Part<T> (&parts)[2], int64_t n, bool past, T* v) {
  past &= BeforeStream<kWidth>(v) == 0;
  const double a = parts[0].weight, b = parts[1].weight;
  if constexpr (sizeof(T) == 2 && kFuses<kWidth>) {
    if (a > kLeastShortWeight && b > kLeastShortWeight)
      return WriteShortSums<kWidth>(parts[0].v, SplitWeight<T>(a), parts[1].v, SplitWeight<T>(b), n,
                                    past, v);
  }
  WriteSums<kWidth>(parts, 2, n, past, v);
}

template <int kWidth, class T>
inline void MergeRows(const MergeStateTyped<T>& a, bool past, int64_t begin, int64_t end) {
  constexpr int64_t kCount = Weights<kWidth>::kCount;
  const int64_t n = a.D;
  for (int64_t first = begin; first < end; first += kCount) {
    const int64_t count = std::min(kCount, end - first);
    const Weights<kWidth> weights(LoadSome<kWidth>(a.s_a + first, count),
                                  LoadSome<kWidth>(a.s_b + first, count));
    for (int64_t i = first; i < first + count; ++i) {
      Part<T> parts[] = {{a.v_a + i * n, a.s_a[i], weights.a[i - first]},
                         {a.v_b + i * n, a.s_b[i], weights.b[i - first]}};
      if (OfNone(parts[0].s) || OfNone(parts[1].s)) {
        if (OfNone(parts[0].s)) std::swap(parts[0], parts[1]);
        MergeRow<kWidth>(parts, OfNone(parts[0].s) ? 0 : 1, n, weights.s[i - first], a.v + i * n,
                         a.s + i);
      } else {
        a.s[i] = Round<float>(weights.s[i - first]);
        WriteBoth<kWidth>(parts, n, past, a.v + i * n);
      }
    }
  }
}

}  // namespace

opcast::Status MergeState(const MergeStateArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    const bool past = PastCache(launch, a.v, a.N * a.H * a.D, 3);
    const auto rows = [&a, past](int64_t begin, int64_t end, auto width) {
      MergeRows<width>(a, past, begin, end);
      if (past) EndStream();
    };
    opcast::ParallelFor(launch, a.N * a.H, RowsPerChunk(a.D), rows);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
