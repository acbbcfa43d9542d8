// v = (e^s_a v_a + e^s_b v_b) / (e^s_a + e^s_b) and s = log(e^s_a + e^s_b) for each row, dense
// rows: see merge.h for the precision. A part whose log-sum-exp is -inf is not read. The weights of
// a vector of rows are made at once.
#include "common/standard.h"

#include "merge.h"
#include "merge_state.gen.h"
#include "rows.h"

namespace opcast_ops {
namespace {

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

template <int kWidth, class T>
inline void MergeRows(const MergeStateTyped<T>& a, int64_t begin, int64_t end) {
  constexpr int64_t kCount = Weights<kWidth>::kCount;
  const int64_t n = a.D;
  const float kEmpty = -std::numeric_limits<float>::infinity();
  for (int64_t first = begin; first < end; first += kCount) {
    const int64_t count = std::min(kCount, end - first);
    const Weights<kWidth> weights(LoadSome<kWidth>(a.s_a + first, count),
                                  LoadSome<kWidth>(a.s_b + first, count));
    for (int64_t i = first; i < first + count; ++i) {
      Part<T> parts[] = {{a.v_a + i * n, a.s_a[i], weights.a[i - first]},
                         {a.v_b + i * n, a.s_b[i], weights.b[i - first]}};
      if (parts[0].s == kEmpty || parts[1].s == kEmpty) {
        if (parts[0].s == kEmpty) std::swap(parts[0], parts[1]);
        MergeRow<kWidth>(parts, parts[0].s == kEmpty ? 0 : 1, n, a.v + i * n, a.s + i);
      } else {
        a.s[i] = Round<float>(weights.s[i - first]);
        WriteSums<kWidth>(parts, 2, n, a.v + i * n);
      }
    }
  }
}

}  // namespace

opcast::Status MergeState(const MergeStateArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    const auto rows = [&a](int64_t begin, int64_t end, auto width) {
      MergeRows<width>(a, begin, end);
    };
    opcast::ParallelFor(launch, a.N * a.H, RowsPerChunk(a.D), rows);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
