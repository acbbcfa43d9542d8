// Which keys queries see, and what becomes of their products.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "cpu/lib/exp.h"

namespace opcast_ops {

constexpr double kNone = -std::numeric_limits<double>::infinity();  // the score of nothing

// Keys from `begin` to `end`.
struct KeyRange {
  int64_t begin, end;

  bool Empty() const { return begin >= end; }
};

// Which keys queries see. The last query has the place of the last key.
struct Sight {
  int64_t queries, keys;
  bool causal;
  std::optional<int64_t> window_left;

  KeyRange Of(int64_t query) const {
    const int64_t place = query + keys - queries;
    const int64_t end = causal ? std::min(keys, place + 1) : keys;
    // A window that is longer than all there is might overflow.
    const int64_t window = std::min(window_left.value_or(keys + queries), keys + queries);
    const int64_t begin = window_left ? std::max<int64_t>(0, place - window) : 0;
    return {std::min(begin, keys), std::max<int64_t>(end, 0)};
  }
};

// What becomes of products before they are weighed.
struct Scores {
  double scale;
  std::optional<double> cap;

  // Makes scores of products; what is left to multiply them by is returned. Tanh in double: a
  // product may be small, and the cap large.
  template <int kVector>
  double Make(int64_t n, float* products) const {
    if (!cap) return scale;
    const double limit = *cap, factor = 2 * scale / limit;
    for (int64_t j = 0; j < n; ++j) {
      const double gate = Sigmoid<kVector>(factor * products[j]);
      products[j] = static_cast<float>(limit * (2 * gate - 1));
    }
    return 1;
  }

  // Makes weights e^(score - lse) of products, and factors of what their gradients are times the
  // weights and less the deltas.
  template <int kVector>
  void Weigh(int64_t n, double lse, const float* products, float* weights, float* factors) const {
    for (int64_t j = 0; j < n; ++j) {
      factors[j] = static_cast<float>(scale);
      weights[j] = static_cast<float>(scale * products[j] - lse);
    }
    if (cap) {
      const double limit = *cap, factor = 2 * scale / limit;
      for (int64_t j = 0; j < n; ++j) {
        const double gate = Sigmoid<kVector>(factor * products[j]);
        weights[j] = static_cast<float>(limit * (2 * gate - 1) - lse);
        factors[j] = static_cast<float>(scale * 4 * gate * (1 - gate));
      }
    }
    for (int64_t j = 0; j < n; ++j) weights[j] = Exp<kVector>(weights[j]);
    for (int64_t j = 0; j < n; ++j) factors[j] *= weights[j];
  }
};

}  // namespace opcast_ops
