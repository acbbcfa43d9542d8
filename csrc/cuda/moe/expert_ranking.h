// Numbers in the order in which experts are chosen: larger ones first, NaN last, and of equal ones
// that with the lower place first. A warp finds the first of them.
#pragma once

#include <cmath>
#include <cstdint>

#include "opcast/device.h"

namespace opcast_ops {

// Whether a number comes before another one wherever they stand.
template <class V>
OPCAST_HOST_DEVICE inline bool Above(V a, V b) {
  return a > b || (a == a && b != b);
}

// A number and its place.
template <class V>
struct Ranked {
  V value;
  int64_t place;

  OPCAST_HOST_DEVICE bool Before(const Ranked& other) const {
    return Above(value, other.value) || (!Above(other.value, value) && place < other.place);
  }
};

template <class V>
OPCAST_DEVICE Ranked<V> ShuffleXor(Ranked<V> x, int mask, int width) {
  return {opcast::ShuffleXor(x.value, mask, width), opcast::ShuffleXor(x.place, mask, width)};
}

// Calls take(j, number) with the first k of the numbers value(0) to value(n - 1) for which
// counts(place) holds, on all lanes. There are at least k of them.
template <class V, class Value, class Counts, class Take>
OPCAST_DEVICE void ForBest(int64_t n, int64_t k, Value value, Counts counts, Take take) {
  const Ranked<V> nothing{static_cast<V>(NAN), n};  // behind all
  Ranked<V> last{};
  for (int64_t j = 0; j < k; ++j) {
    Ranked<V> best = nothing;
    for (int64_t i = opcast::Lane(); i < n; i += opcast::kWarp) {
      const Ranked<V> x{value(i), i};
      if (counts(i) && x.Before(best) && (j == 0 || last.Before(x))) best = x;
    }
    last = opcast::WarpReduce(
        best, [](const Ranked<V>& a, const Ranked<V>& b) { return b.Before(a) ? b : a; });
    take(j, last);
  }
}

}  // namespace opcast_ops
