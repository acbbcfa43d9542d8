// The numbers that quantised results have.
#pragma once

#include <cstdint>

#include "opcast/fp8.h"

namespace opcast_ops {

// The largest: what the largest magnitude of a row becomes. The least of int8 is not used.
template <class Q>
constexpr float kMost = 127;
template <>
inline constexpr float kMost<opcast::f8e4m3fn> = 448;
template <>
inline constexpr float kMost<opcast::f8e4m3fnuz> = 240;

}  // namespace opcast_ops
