// What kernels know of the experts that tokens were routed to.
#pragma once

#include <cstdint>

#include "opcast/minifloat.h"

namespace opcast_ops {

// Ids beyond, such as -1, are those of no expert, or of one on another machine.
OPCAST_HOST_DEVICE inline bool IsExpert(int64_t id, int64_t experts) {
  return id >= 0 && id < experts;
}

// How many places an expert has for its items, in whole blocks.
OPCAST_HOST_DEVICE inline int64_t Padded(int64_t items, int64_t block) {
  return (items + block - 1) / block * block;
}

}  // namespace opcast_ops
