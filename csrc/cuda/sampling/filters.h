// What the filters by top_k, top_p and min_p leave of a row of probabilities.
//
// All filters keep what is at least a number. Sums are double.
#pragma once

#include <cstdint>

#include "cuda/sampling/row_thresholds.h"

namespace opcast_ops {

// What is left of a row: positive numbers from both bounds on.
struct Left {
  const float* x;
  float least;
  double relative;

  // Number i if it is left, 0 otherwise.
  OPCAST_DEVICE double Weight(int64_t i) const {
    return x[i] > 0 && x[i] >= least && x[i] >= relative ? double{x[i]} : 0;
  }
};

// The arguments of a call; null: no such filter.
struct Filters {
  const float* probs;
  const int32_t* top_k;
  const float *top_p, *min_p;

  // What is left of a row, of no number if it is not there. All threads of the block call it.
  OPCAST_DEVICE Left Of(Member& member, int64_t row, bool there) const {
    const int64_t n = there ? member.n() : 0, at = there ? row : 0;
    const float* x = probs + row * member.n();
    float most = 0;
    for (int64_t i = member.index(); i < n; i += member.threads()) most = x[i] > most ? x[i] : most;
    most = member.Max(most);
    float least = 0;
    const auto each = [=, &member, &least](auto add) {
      for (int64_t i = member.index(); i < n; i += member.threads()) {
        if (x[i] > 0 && x[i] >= least) add(opcast::detail::Bits(x[i]), x[i]);
      }
    };
    if (top_k != nullptr) {
      const auto one = [each](auto add) { each([add](uint32_t key, float) { add(key, 1); }); };
      const uint32_t bits = KeyAtWeight(member, int64_t{top_k[at]}, one);
      if (top_k[at] > 0 && top_k[at] < member.n()) least = opcast::detail::FromBits(bits);
    }
    if (top_p != nullptr) {
      double kept = 0;
      each([&kept](uint32_t, float own) { kept += own; });
      const uint32_t bits = KeyAtWeight(member, top_p[at] * member.Sum(kept), each);
      const float limit = bits < opcast::detail::Bits(most) ? opcast::detail::FromBits(bits) : most;
      if (top_p[at] < 1 && limit > least) least = limit;
    }
    return {x, least, min_p != nullptr ? double{min_p[at]} * most : 0};
  }
};

}  // namespace opcast_ops
