// How norms scale a row, in float arithmetic: by 1 / sqrt(mean square + eps).
//
// Squares of float32 and bfloat16 leave the range of floats. Then the row is summed once more,
// times a power of two, and scaled in double, as are numbers whose product with the scale is
// denormal. The scale is found in pairs of floats, so that it is off by no more than its rounding.
#pragma once

#include <cstdint>

#include "cuda/lib/float_pairs.h"
#include "cuda/lib/row_kernels.h"
#include "opcast/device.h"

namespace opcast_ops {

// What a norm knows of all rows.
struct NormSizes {
  Pair eps;
  Pair count, share;  // n and 1 / n

  NormSizes(double eps, int64_t n)
      : eps(PairOf(eps)),
        count(PairOf(static_cast<double>(n))),
        share(PairOf(1 / static_cast<double>(n))) {}

  // A sum over n. For n up to 2^24, it is exact if it is a float: then a number that is the mean
  // has no distance from it. The product with 1 / n alone is not.
  OPCAST_DEVICE Pair Mean(Pair sum) const {
    const float near = Settle(Multiply(sum, share)).high;
    if (!(fabsf(near) <= kLargest)) return {near, 0};
    const Pair whole = Multiply({near, 0}, count);
    if (!(fabsf(whole.high) <= kLargest)) return {near, 0};
    return {near, (((sum.high - whole.high) - whole.low) + sum.low) * share.high};
  }
};

// Adds the squares of a vector's numbers to a sum. Where 16 bits are wanted, those of one vector
// may be added in float.
template <class T>
OPCAST_DEVICE Pair AddSquares(Pair sum, const Floats<T>& numbers) {
  if constexpr (sizeof(T) == 2) {
    float of_vector = 0;
    OPCAST_UNROLL
    for (float v : numbers.at) of_vector = fmaf(v, v, of_vector);
    return sum + of_vector;
  } else {
    OPCAST_UNROLL
    for (float v : numbers.at) sum = sum + Multiply(v, v);
    return sum;
  }
}

// A sum of squares of a row's numbers times `lift`. The lift is 1 unless that sum is so large or so
// small that squares are lost.
struct Lifted {
  Pair squares;
  float lift = 1;

  // 1 / lift.
  OPCAST_DEVICE float Drop() const { return lift < 1 ? 0x1p80f : lift > 1 ? 0x1p-100f : 1; }

  // Changes the lift if it has to; `growable` numbers stay finite if they grow by 2^100.
  OPCAST_DEVICE bool Adjust(Pair eps, bool growable = true) {
    const bool large = !(squares.high <= 0x1p120f);
    const bool small = squares.high < 0x1p-90f && eps.high < 0x1p-90f && growable;
    lift = large ? 0x1p-80f : small ? 0x1p100f : 1;
    return large || small;
  }

  // 1 / sqrt(mean + eps) of the numbers times the lift, where the squares have this mean.
  OPCAST_DEVICE Pair Scale(Pair mean, Pair eps) const {
    return InverseRoot(Settle(mean + Pair{eps.high * lift * lift, eps.low * lift * lift}));
  }
};

// Takes the sum of this thread's squares from squares_of(lift), and adds those of the row.
template <class T, class F>
OPCAST_DEVICE Lifted SumSquares(Member& member, const NormSizes& sizes, F squares_of) {
  Lifted sum;
  OPCAST_NO_UNROLL
  for (int pass = 0;; ++pass) {
    sum.squares = Settle(member.Sum(squares_of(sum.lift)));
    if (!kWide<T> || pass == 1 || !member.Any(sum.Adjust(sizes.eps))) return sum;
  }
}

// The factor of a row's numbers.
template <class T>
class RowScale {
 public:
  OPCAST_DEVICE RowScale(const Lifted& sum, const NormSizes& sizes)
      : lift_(sum.lift),
        scale_(sum.Scale(Settle(Multiply(sum.squares, sizes.share)), sizes.eps)),
        factor_(scale_.high + scale_.low) {}

  // x * scale * weight for the numbers of a vector. wide(e) is number e as a double, for what
  // floats cannot hold.
  template <class F>
  OPCAST_DEVICE Floats<T> Times(const Floats<T>& x, const Floats<T>& weights, F wide) const {
    Floats<T> result;
    bool lost = lift_ != 1;
    OPCAST_UNROLL
    for (int e = 0; e < x.kSize; ++e) {
      const float scaled = x.at[e] * factor_;
      lost = lost || (fabsf(scaled) < 0x1p-126f && x.at[e] != 0);
      result.at[e] = scaled * weights.at[e];
    }
    if (kWide<T> && lost) {
      const double scale = (double{scale_.high} + scale_.low) * lift_;
      OPCAST_UNROLL
      for (int e = 0; e < x.kSize; ++e)
        result.at[e] = static_cast<float>(wide(e) * scale * weights.at[e]);
    }
    return result;
  }

 private:
  float lift_;
  Pair scale_;
  float factor_;
};

}  // namespace opcast_ops
