// The largest number of a row and the sum of e^(x - largest), for rows that may be cut into parts.
//
// Exponentials of 16-bit numbers come from the GPU's power of two, corrected by what the exponent
// was rounded by: within 6 units in the last place of a float. Those of float32 are within one, and
// their sums are pairs. -inf counts as 0. NaN and +inf show in the largest only: then there is no
// sum.
#pragma once

#include <cstdint>
#include <type_traits>

#include "cuda/lib/exp.h"
#include "cuda/lib/row_kernels.h"
#include "opcast/device.h"

namespace opcast_ops {

// Of a part of a row or of all of it. The largest is at least the lowest finite float.
struct ExpSum {
  float max;
  Pair sum;
};

// e^(x - max) for floats.
OPCAST_DEVICE float ExpOfDifference(float x, float max) {
  const Pair difference = Add(x, -max);
  const bool counts = difference.high > -200;  // else the result is 0, and the rest may be large
  return Exp(difference.high, counts ? difference.low : 0).Value();
}

// e^(x - max) for a number of T, where max is not below it. Below e^-88 it is 0 for 16 bits.
template <class T>
OPCAST_DEVICE float ExpBelow(float x, float max) {
  if constexpr (sizeof(T) == 4) {
    return ExpOfDifference(x, max);
  } else {
    constexpr float kLog2E = 0x1.715476p0f, kLn2 = 0x1.62e43p-1f;
    const float difference = fmaxf(x - max, -89), exponent = difference * kLog2E;
    const float power = opcast::FastExp2(exponent);
    return fmaf(power, fmaf(exponent, -kLn2, difference), power);
  }
}

// The largest of the team's values, or NaN.
OPCAST_DEVICE float LargestOrNan(Member& member, float value) {
  float values[] = {value};
  member.Combine(values, -kLargest, [](float a, float b) { return opcast::MaxOrNan(a, b); });
  return values[0];
}

// The largest number of a row, or NaN.
template <class T, class Form>
OPCAST_DEVICE float LargestOfRow(Member& member, const Held<T, Form>& held) {
  float largest = -kLargest;
  member.ForVectors<T, Form>([&](int k, int64_t begin) {
    const Floats<T> values = Widen(held.At(k, begin));
    OPCAST_UNROLL
    for (int e = 0; e < values.kSize; ++e) {
      if (member.Has<Form>(begin, e)) largest = opcast::MaxOrNan(largest, values.at[e]);
    }
  });
  return LargestOrNan(member, largest);
}

// The sum of e^(x - max) over a row but for the element `skipped`, which may be none of them.
template <class T, class Form>
OPCAST_DEVICE Pair SumExps(Member& member, const Held<T, Form>& held, float max,
                           int64_t skipped = -1) {
  using Sum = std::conditional_t<sizeof(T) == 2, float, Pair>;
  Sum sum{};
  member.ForVectors<T, Form>([&](int k, int64_t begin) {
    Floats<T> values = Widen(held.At(k, begin));
    if (static_cast<uint64_t>(skipped - begin) < values.kSize) {
      OPCAST_UNROLL
      for (int e = 0; e < values.kSize; ++e)
        if (begin + e == skipped) values.at[e] = -INFINITY;
    }
    Sum of_vector{};
    OPCAST_UNROLL
    for (int e = 0; e < values.kSize; ++e)
      if (member.Has<Form>(begin, e)) of_vector = of_vector + ExpBelow<T>(values.at[e], max);
    sum = sum + of_vector;
  });
  sum = member.Sum(sum);
  if constexpr (sizeof(T) == 2)
    return {sum, 0};
  else
    return Settle(sum);
}

// The same of a row from those of its parts, `part(i)` for i below count; the team calls it.
template <class F>
OPCAST_DEVICE ExpSum MergeExpSums(Member& member, int64_t count, F part) {
  float max = -kLargest;
  OPCAST_NO_UNROLL
  for (int64_t i = member.index(); i < count; i += member.threads())
    max = opcast::MaxOrNan(max, part(i).max);
  max = LargestOrNan(member, max);
  Pair sum{};
  OPCAST_NO_UNROLL
  for (int64_t i = member.index(); i < count; i += member.threads()) {
    const ExpSum own = part(i);
    const float weight = ExpOfDifference(own.max, max);
    sum = sum + Multiply(own.sum, Pair{weight, 0});
  }
  return {max, Settle(member.Sum(sum))};
}

}  // namespace opcast_ops
