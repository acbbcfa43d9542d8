// Items, which are tokens in one of their slots, grouped by expert: by counting, in one pass over
// the ids for the counts and another for the places.
#pragma once

#include <algorithm>
#include <cstdint>

#include "common/expert_ids.h"
#include "opcast/types.h"

namespace opcast_ops {

struct Items {
  const int32_t* ids;  // of their experts
  int64_t count, experts;
};

// next[e] = where expert e begins, each in whole blocks; calls begin(e, place, items) for each.
// Returns where the last one ends.
template <class Begin>
inline int64_t Group(const Items& items, int64_t block, int32_t* next, Begin begin) {
  std::fill_n(next, items.experts, 0);
  for (int64_t i = 0; i < items.count; ++i) {
    if (IsExpert(items.ids[i], items.experts)) ++next[items.ids[i]];
  }
  int64_t place = 0;
  for (int64_t e = 0; e < items.experts; ++e) {
    const int64_t own = next[e];
    next[e] = opcast::Narrow<int32_t>(place);
    begin(e, place, own);
    place += Padded(own, block);
  }
  return place;
}

// Calls put(item, place) for all items, those of an expert one after the other, and with -1 for
// those of none.
template <class Put>
inline void Place(const Items& items, int32_t* next, Put put) {
  for (int64_t i = 0; i < items.count; ++i)
    put(i, IsExpert(items.ids[i], items.experts) ? next[items.ids[i]]++ : -1);
}

}  // namespace opcast_ops
