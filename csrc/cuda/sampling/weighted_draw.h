// Draws from weights, in the order of their places, by the threads of a team.
#pragma once

#include <cstdint>

#include "cuda/lib/row_kernels.h"
#include "opcast/device.h"

namespace opcast_ops {

// The first place i up to which the sum of weight(0), ... exceeds uniform times the sum of all n;
// weights are doubles of at least 0. The last one that is positive if a sum is infinite, -1 if none
// is positive. All threads of the block call it, and all of the team get the result.
//
// Each thread has consecutive places; sums are double, and their order depends on n only.
template <class Weight>
OPCAST_DEVICE int64_t Draw(Member& member, int64_t n, Weight weight, double uniform) {
  __shared__ double sums[kMostThreads];
  const int64_t length = (n + member.threads() - 1) / member.threads();
  const int64_t begin = member.index() * length, end = begin + length < n ? begin + length : n;
  double own = 0;
  int64_t places[2] = {-1, -1};  // where the sum exceeds the goal, and the last positive weight
  for (int64_t i = begin; i < end; ++i) {
    const double w = weight(i);
    if (w > 0) places[1] = i;
    own += w;
  }
  sums[threadIdx.x] = own;
  __syncthreads();
  double below = 0, total = 0;
  for (int t = 0; t < member.threads(); ++t) {
    if (t == member.index()) below = total;
    total += sums[member.team() * member.threads() + t];
  }
  __syncthreads();
  const double goal = uniform * total;
  if (below <= goal && below + own > goal) {
    double sum = below;
    for (int64_t i = begin; i < end && sum <= goal; ++i) {
      const double w = weight(i);
      if (w > 0) places[0] = i;
      sum += w;
    }
  }
  member.Combine(places, int64_t{-1}, [](int64_t a, int64_t b) { return a > b ? a : b; });
  return places[0] >= 0 ? places[0] : places[1];
}

}  // namespace opcast_ops
