// Where the threads of a block put what each of them lists.
#pragma once

#include <cstdint>

#include "opcast/device.h"

namespace opcast_ops {

// The sum of the counts of the threads before this one; *all becomes that of all threads. All
// threads of the block call it.
template <int kThreads>
OPCAST_DEVICE int64_t CountBefore(int64_t count, int64_t* all = nullptr) {
  constexpr int kWarps = kThreads / opcast::kWarp;
  static_assert(kWarps * opcast::kWarp == kThreads);
  __shared__ int64_t counts[kWarps];
  int64_t before = 0, sum = count;  // of the warp's lanes whose numbers differ in the last bits
  OPCAST_UNROLL
  for (int mask = 1; mask < opcast::kWarp; mask *= 2) {
    const int64_t other = opcast::ShuffleXor(sum, mask);
    if ((opcast::Lane() & mask) != 0) before += other;
    sum += other;
  }
  const int warp = threadIdx.x / opcast::kWarp;
  if (opcast::Lane() == 0) counts[warp] = sum;
  __syncthreads();
  sum = 0;
  OPCAST_UNROLL
  for (int w = 0; w < kWarps; ++w) {
    before += w < warp ? counts[w] : 0;
    sum += counts[w];
  }
  if (all != nullptr) *all = sum;
  __syncthreads();  // before the counts are written again
  return before;
}

}  // namespace opcast_ops
