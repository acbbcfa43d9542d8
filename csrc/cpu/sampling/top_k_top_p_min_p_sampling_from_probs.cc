// ids[b] = a draw by inverse distribution, in the order of ids, from what three filters leave of
// row b. All filters keep what is at least a number: that of top_k and of top_p is found digit by
// digit, by how many probabilities, or how much of their sum, each next digit has. Sums are double.
//
// That of a small top_k is found by going over the row once, as in topk.cc; the other filters and
// the draw then see only what it keeps.
#include "cpu/lib/standard_headers.h"

#include <cmath>
#include <functional>
#include <vector>

#include "common/philox.h"
#include "cpu/lib/scalar_functions.h"
#include "cpu/sampling/weighted_draw.h"
#include "top_k_top_p_min_p_sampling_from_probs.gen.h"

namespace opcast_ops {
namespace {

constexpr int kDigits[] = {20, 10, 0};  // where digits of the bits of a positive float begin
constexpr uint32_t kMostValues = 1 << 11;

// The bits of a positive float, which have its order; 0 for other numbers.
inline uint32_t OrderOf(float x) { return x > 0 ? opcast::detail::Bits(x) : 0; }

// The largest number of a row, of those from `least` on, such that what is not below it counts
// `goal` or more: each one 1, or as much as it is. The smallest positive one if that is too much.
template <bool kCountOnes>
float Threshold(const float* x, int64_t n, float least, double goal) {
  const uint32_t from = std::max(OrderOf(least), uint32_t{1});
  uint32_t found = 0, known = 31;
  double above = 0;
  for (const int digit : kDigits) {
    double values[kMostValues] = {};
    const uint32_t mask = (uint32_t{1} << (known - digit)) - 1;
    for (int64_t i = 0; i < n; ++i) {
      const uint32_t order = OrderOf(x[i]);
      if (order >= from && order >> known == found) {
        values[order >> digit & mask] += kCountOnes ? 1 : static_cast<double>(x[i]);
      }
    }
    uint32_t lowest = 0;
    for (uint32_t value = mask + 1; value-- > 0;) {
      if (values[value] == 0) continue;
      lowest = value;
      if (above + values[value] >= goal) break;
      above += values[value];
    }
    found = found << (known - digit) | lowest;
    known = digit;
  }
  return opcast::detail::FromBits(found);
}

constexpr int64_t kFew = 1024;  // a small top_k, at most
constexpr int64_t kStep = 64;   // probabilities that are compared at once

// Calls body(i) for the places of a row where larger(x[i]).
template <int kWidth, class Larger, class Body>
inline void ForLarger(const float* x, int64_t n, Larger larger, Body body) {
  const auto is_not = [&larger](float number) { return !larger(number); };
  for (int64_t i = 0; i < n; i += kStep) {
    const int64_t count = std::min(kStep, n - i);
    if (AllOf<kWidth>(count, is_not, x + i)) continue;
    for (int64_t j = i; j < i + count; ++j) {
      if (larger(x[j])) body(j);
    }
  }
}

// What Threshold<true> finds for a goal of at most kFew.
template <int kWidth>
inline float FewLargest(const float* x, int64_t n, int64_t goal) {
  float best[2 * kFew + kStep];
  float bound = 0;
  int64_t count = 0;
  const auto cut = [&best, &bound, &count, goal] {
    std::nth_element(best, best + goal - 1, best + count, std::greater<>());
    count = goal;
    bound = best[goal - 1];
  };
  ForLarger<kWidth>(
      x, n, [&bound](float number) { return number > bound; },
      [&](int64_t i) {
        best[count++] = x[i];
        if (count == goal + kFew) cut();
      });
  if (count >= goal) cut();
  if (bound > 0 || count == 0) return bound;
  return *std::min_element(best, best + count);
}

// Probabilities that are left of a row, and their places.
struct Left {
  std::vector<float> numbers;
  std::vector<int64_t> places;

  template <int kWidth>
  void Fill(const float* x, int64_t n, float least) {
    numbers.clear();
    places.clear();
    const auto stays = [least](float number) { return (number > 0) & (number >= least); };
    ForLarger<kWidth>(x, n, stays, [this, x](int64_t i) {
      numbers.push_back(x[i]);
      places.push_back(i);
    });
  }
};

// The place of a draw from what the other filters leave of n numbers of a row, of those from
// `least` on.
template <class Typed>
int64_t DrawFrom(const Typed& a, int64_t row, double uniform, const float* x, int64_t n,
                 float least) {
  if (a.top_p != nullptr && a.top_p[row] < 1) {
    const auto kept = [x, least](int64_t i) { return Select(x[i] >= least, x[i], 0.0f); };
    const double whole = Sum(n, [kept](int64_t i) { return double{kept(i)}; });
    least = Threshold<false>(x, n, least, a.top_p[row] * whole);
  }
  double floor = least;
  if (a.min_p != nullptr) {
    const auto largest = [](float a, float b) { return b > a ? b : a; };
    const float most = Reduce(n, 0.0f, [x](int64_t i) { return x[i]; }, largest);
    const double relative = double{a.min_p[row]} * most;
    floor = relative <= floor ? floor : relative;
  }
  const auto weight = [x, floor](int64_t i) {
    const double own = x[i];
    return Select((own > 0) & (own >= floor), own, 0.0);
  };
  return Draw(n, weight, uniform);
}

template <int kWidth, class Typed>
inline int64_t DrawFromRow(const Typed& a, int64_t row, double uniform, Left* left) {
  int64_t n = a.V;
  const float* x = a.probs + row * n;
  const int64_t most = a.top_k == nullptr || a.top_k[row] <= 0 ? n : a.top_k[row];
  if (most <= std::min(kFew, n - 1)) {
    left->Fill<kWidth>(x, n, FewLargest<kWidth>(x, n, most));
    const auto count = static_cast<int64_t>(left->numbers.size());
    const int64_t place = DrawFrom(a, row, uniform, left->numbers.data(), count, 0);
    return place < 0 ? place : left->places[place];
  }
  return DrawFrom(a, row, uniform, x, n,
                  most < n ? Threshold<true>(x, n, 0, static_cast<double>(most)) : 0);
}

}  // namespace

opcast::Status TopKTopPMinPSamplingFromProbs(const TopKTopPMinPSamplingFromProbsArgs& args,
                                             const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    const RandomStream stream(*a.seed, *a.offset);
    const auto rows = [&](int64_t begin, int64_t end, auto width) {
      Left left;
      for (int64_t row = begin; row < end; ++row)
        a.ids[row] =
            opcast::Narrow<int32_t>(DrawFromRow<width>(a, row, stream.UniformAt(row), &left));
    };
    opcast::ParallelFor(launch, a.B, RowsPerChunk(a.V), rows);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
