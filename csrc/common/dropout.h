// What decides which numbers dropout keeps, and what it makes of them.
#pragma once

#include <cmath>
#include <cstdint>

#include "common/philox.h"

namespace opcast_ops {

// The least integer of a random word that is p or more: see Uniform.
inline int32_t LeastKept(double p) { return static_cast<int32_t>(std::ceil(p * kUniforms)); }

// The factor of numbers that are kept: 0 where none is.
inline float DropScale(double p) { return p < 1 ? static_cast<float>(1 / (1 - p)) : 0.0f; }

}  // namespace opcast_ops
