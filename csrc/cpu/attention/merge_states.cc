// v = the sum of e^s v over the parts, divided by that of e^s, and s its logarithm, for each row:
// see state_merge.h for the precision. Parts without keys are not read. The weights of
// a vector of rows are made at once.
#include "cpu/lib/standard_headers.h"

#include "cpu/attention/state_merge.h"
#include "cpu/lib/row_reductions.h"
#include "merge_states.gen.h"

namespace opcast_ops {
namespace {

// The logarithm of a finite number that is at least 1.
template <int kWidth>
inline double Log(double x) {
  constexpr double kLn2 = 0x1.62e42fefa39efp-1, kUnit = 0x1p52;  // the last place of kUnit is 1
  uint64_t bits, exponent;
  std::memcpy(&bits, &x, sizeof bits);
  std::memcpy(&exponent, &kUnit, sizeof exponent);
  exponent |= bits >> 52;
  bits = (bits & ~uint64_t{0} >> 12) | uint64_t{1023} << 52;
  double fraction, power;
  std::memcpy(&fraction, &bits, sizeof bits);
  std::memcpy(&power, &exponent, sizeof exponent);
  return Fma<kWidth>(power - (kUnit + 1023), kLn2, LogOnePlus<kWidth>(fraction - 1));
}

// A number for each of a vector of rows.
template <int kWidth>
using RowNumbers = Lanes<kWidth, double>;

// Makes the weights of so many parts for `rows` rows whose log-sum-exps follow each other, those of
// the next part `stride` behind; one that is empty weighs 0. Returns the log-sum-exps of all parts;
// NaN if one is NaN.
template <int kWidth>
inline RowNumbers<kWidth> Weigh(const float* s, int64_t parts, int64_t stride, int64_t rows,
                                RowNumbers<kWidth>* weights) {
  constexpr int kCount = Lanes<kWidth>::kCount;
  constexpr double kEnd = -700;  // below, a weight is zero as a float
  constexpr double kEmpty = -std::numeric_limits<double>::infinity();
  RowNumbers<kWidth> largest, sum = {};
  std::fill_n(largest.numbers, kCount, kEmpty);
  for (int64_t p = 0; p < parts; ++p) {
    const auto own = LoadSome<kWidth>(s + p * stride, rows);
#pragma GCC unroll 1
    for (int l = 0; l < kCount; ++l) {
      const double x = own.numbers[l], y = largest.numbers[l];
      largest.numbers[l] = Select(((x > y) & (x != -kEmpty)) | (x != x), x, y);
    }
  }
  for (int64_t p = 0; p < parts; ++p) {
    const auto own = LoadSome<kWidth>(s + p * stride, rows);
#pragma GCC unroll 1
    for (int l = 0; l < kCount; ++l) {
      const double x = own.numbers[l], y = largest.numbers[l];
      const double less = Select((x == y) | (x == -kEmpty), 0.0, x - y);
      const double power = Exp<kWidth>(Select(less < kEnd, kEnd, less));
      weights[p].numbers[l] = Select((x == kEmpty) | (x == -kEmpty), 0.0, power);
      sum.numbers[l] += weights[p].numbers[l];
    }
  }
#pragma GCC unroll 1
  for (int l = 0; l < kCount; ++l) {
    largest.numbers[l] += Log<kWidth>(Select(sum.numbers[l] < 1, 1.0, sum.numbers[l]));
    sum.numbers[l] = 1 / sum.numbers[l];
  }
  for (int64_t p = 0; p < parts; ++p) {
#pragma GCC unroll 1
    for (int l = 0; l < kCount; ++l) weights[p].numbers[l] *= sum.numbers[l];
  }
  return largest;
}

// Merges rows begin to end, as many at once as a vector has floats and have the same parts.
template <int kWidth, class T>
inline void MergeRows(const MergeStatesTyped<T>& a, int64_t begin, int64_t end) {
  const int64_t n = a.D;
  const std::unique_ptr<RowNumbers<kWidth>[]> weights(new RowNumbers<kWidth>[a.S]);
  const std::unique_ptr<Part<T>[]> parts(new Part<T>[a.S]);
  for (int64_t i = begin, rows; i < end; i += rows) {
    const int64_t first = i / a.H * a.S * a.H + i % a.H;
    rows = std::min({int64_t{Lanes<kWidth>::kCount}, end - i, a.H - i % a.H});
    const auto lse = Weigh<kWidth>(a.s_parts + first, a.S, a.H, rows, weights.get());
    for (int64_t row = 0; row < rows; ++row) {
      int64_t count = 0;
      for (int64_t p = 0; p < a.S; ++p) {
        const int64_t at = first + row + p * a.H;
        parts[count] = {a.v_parts + at * n, a.s_parts[at], weights[p].numbers[row]};
        count += !OfNone(a.s_parts[at]);
      }
      MergeRow<kWidth>(parts.get(), count, n, lse.numbers[row], a.v + (i + row) * n, a.s + i + row);
    }
  }
}

}  // namespace

opcast::Status MergeStates(const MergeStatesArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    const auto rows = [&a](int64_t begin, int64_t end, auto width) {
      MergeRows<width>(a, begin, end);
    };
    constexpr int64_t kLeastRows = Lanes<64>::kCount;  // fewer would not fill a vector
    opcast::ParallelFor(launch, a.N * a.H, std::max(kLeastRows, RowsPerChunk(a.D * a.S)), rows);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
