// Quantising stretches of numbers: x / scale, limited and rounded to nearest, ties to even.
//
// Quotients are float; where one looks like a tie between integers, it is computed in double, so
// that it is rounded once. FP8 numbers are rounded by way of float, which makes a difference to
// ties only. Scales are quotients of floats.
#pragma once

#include <cstdint>

#include "common/quant_limits.h"
#include "cpu/lib/map_elements.h"
#include "cpu/lib/row_reductions.h"
#include "cpu/lib/row_sums.h"

namespace opcast_ops {

// A number within the limits of Q. In int8, NaN become 0.
template <class Q, class V>
inline V Limited(V value) {
  constexpr V kLimit = kMost<Q>;
  const V most = Select(value > kLimit, kLimit, value);
  const V limited = Select(most < -kLimit, -kLimit, most);
  return std::is_same_v<Q, int8_t> ? Select(value == value, limited, V{0}) : limited;
}

// A number without digits behind the point; what it makes of numbers beyond 2^22 is as large.
inline float Whole(float value) { return value + 0x1.8p23f - 0x1.8p23f; }
inline double Whole(double value) { return value + 0x1.8p52 - 0x1.8p52; }

template <int kWidth, class T, class Q>
inline void Quantise(const T* x, int64_t n, float scale, Q* q) {
  if constexpr (std::is_same_v<Q, int8_t>) {
    const auto f = [=](float number) { return Limited<Q>(Whole(number / scale)); };
    // Of what is not near an integer either, such as NaN, the double is right, too.
    const auto is_no_tie = [=](float number) {
      const float quotient = number / scale;
      return __builtin_fabsf(quotient - Whole(quotient)) < 0.5f;
    };
    const auto wide = [divisor = double{scale}](double number) {
      return Limited<Q>(Whole(number / divisor));
    };
    MapEither<kWidth>(n, f, is_no_tie, wide, q, x);
  } else {
    Map<kWidth>(n, [=](float number) { return Limited<Q>(number / scale); }, q, x);
  }
}

// Quantises rows of n numbers, each by a scale of its own.
template <class T, class Q>
opcast::Status QuantiseRows(const opcast::Launch& launch, int64_t rows, int64_t n, const T* x,
                            const ScaleRule& rule, Q* q, float* scales) {
  const auto body = [=](int64_t begin, int64_t end, auto width) {
    for (int64_t i = begin; i < end; ++i) {
      scales[i] = rule.Scale<Q>(Most(x + i * n, n));
      Quantise<width>(x + i * n, n, scales[i], q + i * n);
    }
  };
  opcast::ParallelFor(launch, rows, RowsPerChunk(n), body);
  return opcast::Status::Ok();
}

}  // namespace opcast_ops
