// Where the largest numbers of a row end: those that are so many, or that add up to so much.
#pragma once

#include <cstdint>

#include "cuda/lib/row_kernels.h"
#include "opcast/device.h"

namespace opcast_ops {

// The largest number such that the keys of a row that are not below it weigh `goal` or more; 0 if
// that is too much. each(add) calls add(key, weight) for what is this thread's of the row, the same
// each time. All threads of the block call it, and all of the team get the result.
//
// It is found four bits at a time, by how much weighs what is not below each of 15 numbers.
template <class Sum, class Each>
OPCAST_DEVICE uint32_t KeyAtWeight(Member& member, Sum goal, Each each) {
  constexpr int kOthers = 15;
  uint32_t found = 0;
  OPCAST_NO_UNROLL
  for (int shift = 28; shift >= 0; shift -= 4) {
    Sum sums[kOthers] = {};
    each([&sums, found, shift](uint32_t key, Sum weight) {
      OPCAST_UNROLL
      for (uint32_t k = 0; k < kOthers; ++k)
        sums[k] += key >= found + ((k + 1) << shift) ? weight : 0;
    });
    member.Sum(sums);
    uint32_t digit = 0;
    OPCAST_UNROLL
    for (uint32_t k = 0; k < kOthers; ++k) {
      if (sums[k] >= goal) digit = k + 1;
    }
    found += digit << shift;
  }
  return found;
}

}  // namespace opcast_ops
