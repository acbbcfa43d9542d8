// (x - mean) / sqrt(variance + eps) * weight + bias for dense rows, with the mean and the
// population variance of a row: what the layer norms share. The mean and 1 / sqrt(variance + eps),
// which a gradient needs, are rounded once, too.
//
// A result near zero is what two larger numbers leave of each other, so the moments are found in
// pairs of floats, in one pass. Float32 takes the differences from the row's first element: as that
// lies among the others, the variance cancels no more than n-fold however large the mean; and where
// all are equal, the differences are zero. 16 bits, whose squares are floats, do so only where the
// mean is large beside the deviation; then there is a second pass, as for rows whose squares leave
// the range of floats. Results of float32 are pairs up to the last step. Those of 16 bits are
// floats; where they cancel, they are computed once more in double, as is all that leaves the range
// of floats.
#pragma once

#include "cuda/lib/row_kernels.h"
#include "cuda/norm/norm_scale.h"

namespace opcast_ops {

// The moments of a row's numbers times its lift, less a number that is near them.
struct Moments {
  float base;
  Pair total;  // the sum
  Pair shift;  // the mean
  Pair scale;  // 1 / sqrt(variance + eps)
  Lifted sum;

  OPCAST_DEVICE double Mean(int64_t n) const {
    return base + (double{total.high} + total.low) / static_cast<double>(n) * sum.Drop();
  }
  OPCAST_DEVICE double Factor() const { return (double{scale.high} + scale.low) * sum.lift; }

  // Adds a number's difference from the base and its square to sums.
  OPCAST_DEVICE void AddTo(Pair (&sums)[2], float x) const {
    const Pair beyond = Add(x * sum.lift, -base * sum.lift);
    sums[0] = sums[0] + beyond;
    sums[1] = sums[1] + Multiply(beyond, beyond);
  }

  // Takes the sums over a row; says whether they cancel too much.
  OPCAST_DEVICE bool Take(const Pair (&sums)[2], const NormSizes& sizes, Pair* variance) {
    total = Settle(sums[0]);
    shift = sizes.Mean(total);
    sum.squares = Settle(sums[1]);
    const Pair square = Multiply(shift, shift);
    *variance =
        Settle(Settle(Multiply(sum.squares, sizes.share)) + Pair{-square.high, -square.low});
    if (variance->high < 0) *variance = {};
    return variance->high < square.high * 0x1p-8f;
  }
};

// A thread's numbers of a row as floats. They stay in registers if there is room for the row.
template <class T, class Form>
class Numbers {
 public:
  OPCAST_DEVICE Numbers(const Member& member, const T* row, bool there)
      : held_(member, row, there) {
    OPCAST_UNROLL
    for (int k = 0; k < Form::kVectors; ++k) kept_[k] = Widen(held_.At(k, 0));
  }
  OPCAST_DEVICE Floats<T> At(int k, int64_t begin) const {
    if constexpr (Form::kVectors > 0)
      return kept_[k];
    else
      return Widen(held_.At(k, begin));
  }

 private:
  const Held<T, Form> held_;
  Floats<T> kept_[Form::kVectors > 0 ? Form::kVectors : 1];
};

// Adds up a thread's numbers and their squares.
template <class T, class Form>
OPCAST_DEVICE void AddUp(const Member& member, const Numbers<T, Form>& numbers,
                         const Moments& moments, Pair (&sums)[2]) {
  member.ForVectors<T, Form>([&](int k, int64_t begin) {
    const Floats<T> values = numbers.At(k, begin);
    OPCAST_UNROLL
    for (int e = 0; e < values.kSize; ++e) {
      const float v = values.at[e];
      if constexpr (sizeof(T) == 2) {  // zeros after the end add nothing
        sums[0] = sums[0] + v;
        sums[1] = sums[1] + v * v;
      } else if (member.Has<Form>(begin, e)) {
        moments.AddTo(sums, v);
      }
    }
  });
}

// The moments of a row, of which `n` elements are there. What is needed seldom is read again.
template <class T, class Form>
OPCAST_DEVICE Moments MomentsOf(Member& member, const Numbers<T, Form>& numbers, const T* row,
                                int64_t n, const NormSizes& sizes) {
  const float first = n > 0 ? static_cast<float>(row[0]) : 0.0f;
  const float near = fabsf(first) <= kLargest ? first : 0;
  Moments moments;
  moments.base = sizeof(T) == 4 ? near : 0;
  Pair variance;
  bool again = true;
  OPCAST_NO_UNROLL
  for (int pass = 0;; ++pass) {
    Pair sums[2] = {};
    if (pass == 0) {
      AddUp(member, numbers, moments, sums);
    } else {
      OPCAST_NO_UNROLL
      for (int64_t j = member.index(); j < n; j += member.threads())
        moments.AddTo(sums, static_cast<float>(row[j]));
    }
    member.Sum(sums);
    // A further pass may be for the sake of another row.
    const bool cancels = again && moments.Take(sums, sizes, &variance);
    Lifted next = moments.sum;
    const bool growable = fabsf(moments.base) + fabsf(moments.shift.high) < 0x1p20f;
    const bool lifts = kWide<T> && next.Adjust(sizes.eps, growable);
    const bool moves = sizeof(T) == 2 && pass == 0;  // the base, and lifts the row later
    again = again && (moves ? cancels || lifts : lifts && moments.sum.lift == 1);
    if (!member.Any(again)) break;
    if (again && moves) moments.base = near;
    if (again && !moves) moments.sum.lift = next.lift;
  }
  moments.scale = moments.sum.Scale(variance, sizes.eps);
  return moments;
}

// The result for a number of float32.
OPCAST_DEVICE float Place(const Moments& moments, float x, float weight, float bias) {
  const Pair beyond = Add(x, -moments.base), centered = Add(beyond.high, -moments.shift.high);
  const Pair normal =
      Multiply({centered.high, centered.low + (beyond.low - moments.shift.low)}, moments.scale);
  const Pair weighted = Multiply(normal.high, weight), placed = Add(weighted.high, bias);
  const float rest = placed.low + fmaf(normal.low, weight, weighted.low);
  return fabsf(placed.high) <= kLargest ? placed.high + rest : placed.high;
}

// A result of 16 bits below so much of its bias is what a difference leaves; larger weights show
// that a number of bfloat16 may have been too small for floats.
template <class T>
constexpr float kCancels = kWide<T> ? 0x1p-11f : 0x1p-8f;
constexpr float kLargeWeight = 0x1p10f;
// A number nearer than this to the mean, beside that: the pair of it is not enough.
constexpr float kNearMean = 0x1p-24f;

// The scales and shifts of columns that all rows have in common.
template <class W_>
struct Columns {
  using W = W_;
  const W* weight;
  const W* bias;  // or null

  template <class T, bool kWhole>
  OPCAST_DEVICE void Read(int64_t, int64_t begin, int64_t n, Floats<T>* weights,
                          Floats<T>* shifts) const {
    *weights = LoadFloats<T, kWhole>(weight, begin, n);
    *shifts = LoadFloats<T, kWhole>(bias, begin, n);
  }
  OPCAST_DEVICE int64_t At(int64_t, int64_t column) const { return column; }
};

// Affine says which scale and shift an element of a row has.
template <class T, class Affine>
struct LayerNormRow {
  using Element = T;
  using W = typename Affine::W;
  T* y;
  float* mean;  // or null
  float* rstd;  // or null
  const T* x;
  Affine affine;
  NormSizes sizes;

  // Turns a vector's numbers into results; a mark for each that needs double.
  template <class Form>
  OPCAST_DEVICE uint32_t Places(const Moments& moments, int64_t row, int64_t n, int64_t begin,
                                Floats<T>& values) const {
    Floats<T> weights, shifts;
    affine.template Read<T, Form::kWhole>(row, begin, n, &weights, &shifts);
    const Pair center = Add(moments.base, moments.shift.high);
    const float rest = center.low + moments.shift.low;
    const float scale = moments.scale.high + moments.scale.low;
    uint32_t marked = 0;
    OPCAST_UNROLL
    for (int e = 0; e < values.kSize; ++e) {
      const float w = weights.at[e], b = shifts.at[e];
      if constexpr (sizeof(T) == 2) {
        const float beyond = (values.at[e] - center.high) - rest;
        values.at[e] = fmaf(beyond * scale, w, b);
        bool again = fabsf(values.at[e]) < fabsf(b) * kCancels<T> ||
                     fabsf(beyond) < fabsf(center.high) * kNearMean;
        if (kWide<W>) again = again || fabsf(w) > kLargeWeight;
        if (again) marked |= 1u << e;
      } else {
        values.at[e] = Place(moments, values.at[e], w, b);
      }
    }
    return marked;
  }

  // Computes the marked results in double. Bit k * kSize + e is element e of the vector k, and
  // `step` elements are between vectors.
  OPCAST_DEVICE void Again(uint32_t marked, const Moments& moments, int64_t row, int64_t n,
                           int64_t begin, int64_t step) const {
    constexpr int kSize = Vector<T>::kSize;
    const double center = moments.Mean(n), scale = moments.Factor();
    OPCAST_NO_UNROLL
    for (int i = 0; marked != 0; ++i, marked >>= 1) {
      const int64_t j = begin + i / kSize * step + i % kSize;
      if ((marked & 1) == 0 || j >= n) continue;
      const double normal = (static_cast<float>(x[row * n + j]) - center) * scale;
      const int64_t at = affine.At(row, j);
      const double shift = affine.bias == nullptr ? 0.0f : static_cast<float>(affine.bias[at]);
      y[row * n + j] = Round<T>(normal * static_cast<float>(affine.weight[at]) + shift);
    }
  }

  template <class Form>
  OPCAST_DEVICE void Run(Member& member, int64_t row, bool there) const {
    const int64_t n = member.n(), begin = member.Begin<T>(0);
    const Numbers<T, Form> numbers(member, x + row * n, there);
    const Moments moments = MomentsOf(member, numbers, x + row * n, there ? n : 0, sizes);
    if (!there) return;
    // Whether products leave the range of floats.
    const bool lost = kWide<T> && (moments.sum.lift != 1 || moments.sum.squares.high < 0x1p-90f);
    const uint32_t all = lost ? (1u << Vector<T>::kSize) - 1 : 0;
    uint32_t marked = 0;
    member.ForVectors<T, Form>([&](int k, int64_t at) {
      Floats<T> values = numbers.At(k, at);
      marked |= (Places<Form>(moments, row, n, at, values) | all) << (k * values.kSize);
      Store<Form::kWhole>(Narrow(values), y + row * n, at, n);
      if constexpr (Form::kVectors == 0) {
        if (marked != 0) Again(marked, moments, row, n, at, 0);
        marked = 0;
      }
    });
    if (Form::kVectors > 0 && marked != 0)
      Again(marked, moments, row, n, begin, member.Begin<T>(1) - begin);
    if (member.Writes(row)) {  // also for rows of no elements, whose mean is NaN
      if (mean != nullptr) mean[row] = Round<float>(moments.Mean(n));
      if (rstd != nullptr) rstd[row] = Round<float>(moments.Factor());
    }
  }
};

}  // namespace opcast_ops
