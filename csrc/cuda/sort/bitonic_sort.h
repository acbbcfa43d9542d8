// A bitonic sort by a block, of any number of elements: the network sorts a power of two, of which
// the elements beyond the last are the largest, and never move.
#pragma once

#include <cstdint>

#include "common/sort_key.h"
#include "opcast/device.h"

namespace opcast_ops {

// The power of two that is not below n.
OPCAST_HOST_DEVICE inline int64_t RoundUpToPower(int64_t n) {
  int64_t power = 1;
  while (power < n) power *= 2;
  return power;
}

// Calls exchange(i, j) for all pairs of places i < j of n; the smaller element goes to place i. All
// threads of the block call it, after they wait for what is to be sorted.
template <class Exchange>
OPCAST_DEVICE void BlockSort(int64_t n, Exchange exchange) {
  const int64_t power = RoundUpToPower(n);
  OPCAST_NO_UNROLL
  for (int64_t size = 2; size <= power; size *= 2) {
    OPCAST_NO_UNROLL
    for (int64_t step = size / 2; step > 0; step /= 2) {
      // The first step of a merge compares with the mirror image, so that all directions agree.
      const int64_t mask = step == size / 2 ? size - 1 : step;
      OPCAST_NO_UNROLL
      for (int64_t pair = threadIdx.x; pair < power / 2; pair += blockDim.x) {
        const int64_t i = pair / step * 2 * step + pair % step, j = i ^ mask;
        if (j < n) exchange(i, j);
      }
      __syncthreads();
    }
  }
}

// Puts the ranks of numbers of a row in order, the largest first, and writes the numbers and their
// columns. All threads of the block call it, after they wait for the ranks.
template <class T>
OPCAST_DEVICE void WriteRanked(const T* row, int64_t k, uint64_t* ranks, T* values,
                               int32_t* indices) {
  BlockSort(k, [&](int64_t i, int64_t j) {
    const uint64_t a = ranks[i], b = ranks[j];
    if (b <= a) return;
    ranks[i] = b;
    ranks[j] = a;
  });
  OPCAST_NO_UNROLL
  for (int64_t i = threadIdx.x; i < k; i += blockDim.x) {
    const int64_t column = ColumnOf(ranks[i]);
    values[i] = row[column];
    indices[i] = opcast::Narrow<int32_t>(column);
  }
}

}  // namespace opcast_ops
