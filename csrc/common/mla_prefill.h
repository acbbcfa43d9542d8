// Which rows of a ragged cache a query of a ragged batch sees.
#pragma once

#include <cstdint>

#include "opcast/minifloat.h"

namespace opcast_ops {

// Rows of the cache.
struct Seen {
  int64_t first, count;
};

// Offsets that the definition forbids lead to wrong results, but not out of the arrays.
struct Sequences {
  const int32_t *queries, *keys;  // where sequences begin, and the last one ends
  int64_t count, rows;            // of sequences, and of the cache
  bool causal;

  OPCAST_HOST_DEVICE Seen Of(int64_t query) const {
    const int64_t b = Owner(query);
    if (b < 0 || b >= count) return {0, 0};  // it belongs to no sequence
    const int64_t first = Clamp(keys[b], 0, rows),
                  keys_there = Clamp(keys[b + 1], first, rows) - first;
    const int64_t later = queries[b + 1] - query - 1;  // queries of the sequence
    return {first, causal ? Clamp(keys_there - later, 0, keys_there) : keys_there};
  }

 private:
  OPCAST_HOST_DEVICE static int64_t Clamp(int64_t x, int64_t least, int64_t most) {
    return x < least ? least : x < most ? x : most;
  }

  // The last sequence that does not begin behind a query, -1 if all do.
  OPCAST_HOST_DEVICE int64_t Owner(int64_t query) const {
    int64_t low = 0, high = count + 1;  // the offsets before `low` are not behind it
    while (low < high) {
      const int64_t middle = (low + high) / 2;
      if (queries[middle] <= query)
        low = middle + 1;
      else
        high = middle;
    }
    return low - 1;
  }
};

}  // namespace opcast_ops
