// Numbers in the order in which experts are chosen: larger ones first, NaN last, and of equal ones
// that with the lower place first.
#pragma once

#include <cstdint>

#include "opcast/minifloat.h"

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

}  // namespace opcast_ops
