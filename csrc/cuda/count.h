// Where the threads of a block put what each of them lists.
#pragma once

#include <cstdint>

#include "opcast/device.h"

namespace opcast_ops {

// The sum of the counts of the threads before this one; *all becomes that of all threads. All
// threads of the block call it.
template <int kThreads>
OPCAST_DEVICE int64_t CountBefore(int64_t count, int64_t* all = nullptr) {
  __shared__ int64_t counts[kThreads];
  counts[threadIdx.x] = count;
  __syncthreads();
  int64_t before = 0, sum = 0;
  OPCAST_NO_UNROLL
  for (int t = 0; t < kThreads; ++t) {
    before += t < static_cast<int>(threadIdx.x) ? counts[t] : 0;
    sum += counts[t];
  }
  if (all != nullptr) *all = sum;
  __syncthreads();  // before the counts are written again
  return before;
}

}  // namespace opcast_ops
