// Draws from weights, in the order of their places.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cpu/lib/row_reductions.h"

namespace opcast_ops {

constexpr int64_t kPart = 1024;  // weights whose sum is one step of the search

// The first place i up to which the sum of weight(0), ... exceeds uniform times the sum of all n;
// weights are doubles of at least 0. The last one that is positive if a sum is infinite, -1 if none
// is positive.
//
// Sums are those of parts, which a loop over vectors adds up.
template <class Weight>
inline int64_t Draw(int64_t n, Weight weight, double uniform) {
  const auto sum = [n, weight](int64_t begin) {
    const auto term = [weight, begin](int64_t i) { return weight(begin + i); };
    return Sum(std::min(kPart, n - begin), term);
  };
  double total = 0;
  for (int64_t i = 0; i < n; i += kPart) total += sum(i);
  if (!(total > 0)) return -1;
  int64_t last = n - 1;
  if (total == std::numeric_limits<double>::infinity()) {
    while (!(weight(last) > 0)) --last;
    return last;
  }
  const double goal = uniform * total;
  double below = 0;
  int64_t begin = 0;
  for (double above; (above = below + sum(begin)) <= goal; begin += kPart) below = above;
  for (int64_t i = begin; i < std::min(n, begin + kPart) && below <= goal; ++i) {
    const double own = weight(i);
    if (own > 0) last = i;
    below += own;
  }
  return last;
}

}  // namespace opcast_ops
