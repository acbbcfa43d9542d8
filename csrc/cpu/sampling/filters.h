// What the filters by top_k, top_p and min_p leave of a row of probabilities.
//
// All filters keep what is at least a number. That of a small top_k is found by going over the row
// once; the other filters then see only what it keeps. Sums are double.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "cpu/lib/row_reductions.h"
#include "cpu/lib/scalar_functions.h"
#include "cpu/sampling/row_thresholds.h"

namespace opcast_ops {

// The bits of a positive float, which have its order; 0 for other numbers.
inline uint32_t OrderOf(float x) { return x > 0 ? opcast::detail::Bits(x) : 0; }

// The smallest of the k largest numbers of a row. All positive ones are kept if it is 0.
inline float LeastOfLargest(const float* x, int64_t n, int64_t k) {
  const auto key = [x](int64_t i) { return OrderOf(x[i]); };
  const auto one = [](int64_t) { return 1; };
  return opcast::detail::FromBits(KeyAtWeight(n, key, one, static_cast<double>(k)));
}

// The smallest of the fewest largest numbers whose share of those from `least` on is at least p.
inline float LeastOfShare(const float* x, int64_t n, float least, float p) {
  const auto kept = [x, least](int64_t i) { return Select(x[i] >= least, x[i], 0.0f); };
  const double whole = Sum(n, [kept](int64_t i) { return double{kept(i)}; });
  const auto key = [kept](int64_t i) { return OrderOf(kept(i)); };
  const auto own = [x](int64_t i) { return double{x[i]}; };
  return opcast::detail::FromBits(KeyAtWeight(n, key, own, p * whole));
}

// n numbers of a row, of which those from `floor` on are left. Their places in the row are
// `places`, or the same if that is null.
struct Left {
  int64_t n;
  const float* x;
  const int64_t* places;
  double floor;

  // A function of i: number i if it is left, 0 otherwise.
  auto Weight() const {
    return [x = x, floor = floor](int64_t i) {
      const double own = x[i];
      return Select((own > 0) & (own >= floor), own, 0.0);
    };
  }
  int64_t Place(int64_t i) const { return places == nullptr ? i : places[i]; }
};

// Filters rows. It has room for what a small top_k keeps.
class Filters {
 public:
  // What is left of a row, until the next one is filtered. `a` has the op's arguments.
  template <int kWidth, class Typed>
  Left Of(const Typed& a, int64_t row) {
    Left left = {a.V, a.probs + row * a.V, nullptr, 0};
    const int64_t most = a.top_k == nullptr || a.top_k[row] <= 0 ? left.n : a.top_k[row];
    float least = 0;
    if (most <= std::min(kFew, left.n - 1))
      left = Gathered<kWidth>(left, FewLargest<kWidth>(left.x, left.n, most, 0));
    else if (most < left.n)
      least = LeastOfLargest(left.x, left.n, most);
    if (a.top_p != nullptr && a.top_p[row] < 1)
      least = LeastOfShare(left.x, left.n, least, a.top_p[row]);
    left.floor = least;
    if (a.min_p == nullptr) return left;
    const auto larger = [](float a, float b) { return b > a ? b : a; };
    const float largest = Reduce(left.n, 0.0f, [&left](int64_t i) { return left.x[i]; }, larger);
    const double relative = double{a.min_p[row]} * largest;
    if (!(relative <= left.floor)) left.floor = relative;
    return left;
  }

 private:
  template <int kWidth>
  Left Gathered(const Left& row, float least) {
    numbers_.clear();
    places_.clear();
    const auto stays = [least](float number) { return (number > 0) & (number >= least); };
    ForLarger<kWidth>(row.x, row.n, stays, [this, &row](int64_t i) {
      numbers_.push_back(row.x[i]);
      places_.push_back(i);
    });
    return {static_cast<int64_t>(numbers_.size()), numbers_.data(), places_.data(), 0};
  }

  std::vector<float> numbers_;
  std::vector<int64_t> places_;
};

}  // namespace opcast_ops
