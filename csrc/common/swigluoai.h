// What the kernels of swigluoai_and_mul and of its gradient are about, on every device.
#pragma once

#include <cmath>
#include <limits>

#include "opcast/minifloat.h"

namespace opcast_ops {

// Gates and values within a limit that need not be a float. A float is above the limit if it is
// above the largest float that is not above it, so comparisons need no double.
class Limits {
 public:
  explicit Limits(double limit)
      : gate_(static_cast<float>(limit)),
        most_(static_cast<float>(1 + limit)),
        least_(static_cast<float>(1 - limit)),
        end_(gate_ > limit ? std::nextafter(gate_, 0.0f) : gate_) {}

  // The gate, at most the limit.
  OPCAST_HOST_DEVICE float Gate(float x) const { return Choose(x > end_, gate_, x); }

  // 1 + the value, of which the sum with a limit that is rounded would lose digits near -1.
  OPCAST_HOST_DEVICE float OnePlusValue(float x) const {
    return Choose(x > end_, most_, Choose(x < -end_, least_, x + 1));
  }

  OPCAST_HOST_DEVICE bool LimitsGate(float x) const { return x > end_; }
  OPCAST_HOST_DEVICE bool LimitsValue(float x) const { return (x > end_) | (x < -end_); }

 private:
  OPCAST_HOST_DEVICE static float Choose(bool condition, float a, float b) {
    namespace bits = opcast::detail;
    return bits::FromBits(bits::Select(condition, bits::Bits(a), bits::Bits(b)));
  }

  float gate_, most_, least_, end_;
};

}  // namespace opcast_ops
