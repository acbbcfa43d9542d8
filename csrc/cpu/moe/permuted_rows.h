// Rows copied to where those of their experts stand.
#pragma once

#include "cpu/lib/row_reductions.h"
#include "cpu/moe/group_by_expert.h"

namespace opcast_ops {

// Where the rows of items go: map[item] is the item's place, or -1 if it has no expert, and those
// of expert e begin at offsets[e].
struct PermutedPlaces {
  int32_t *map, *offsets;
};

// `next` has room for a number of each expert.
inline void FindPlaces(const Items& items, int32_t* next, const PermutedPlaces& places) {
  const int64_t end = Group(items, 1, next, [&](int64_t e, int64_t place, int64_t) {
    places.offsets[e] = opcast::Narrow<int32_t>(place);
  });
  places.offsets[items.experts] = opcast::Narrow<int32_t>(end);
  Place(items, next,
        [&](int64_t item, int64_t place) { places.map[item] = opcast::Narrow<int32_t>(place); });
}

// Copies the rows of n numbers of tokens with so many slots; other rows of `to` get zeros.
template <class T>
inline void PermuteRows(const opcast::Launch& launch, const T* x, int64_t n, int64_t slots,
                        const Items& items, const PermutedPlaces& places, T* to) {
  const int64_t all = places.offsets[items.experts];
  opcast::ParallelFor(launch, items.count, RowsPerChunk(n), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      if (places.map[i] >= 0) std::copy_n(x + i / slots * n, n, to + places.map[i] * n);
      if (i >= all) std::fill_n(to + i * n, n, static_cast<T>(0.0f));
    }
  });
}

}  // namespace opcast_ops
