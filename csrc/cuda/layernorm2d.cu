// y[i, j] = (x[i, j] - mean) / sqrt(variance + eps) * weight[j] + bias[j] with the mean and the
// population variance of row i, dense rows. Every step but the last is one of pairs of floats: a
// result near zero is what two larger numbers leave of each other. Rows whose squares leave the
// range of floats are computed in double. The mean and 1 / sqrt(variance + eps), which a gradient
// needs, are rounded once, too.
//
// One pass finds both moments, of the differences from the row's first element: as that lies among
// the others, the variance cancels no more than n-fold however large the mean; and where all are
// equal, the differences are zero.
//
// Registers: at most 120.
#include "layernorm2d.gen.h"
#include "norm.h"
#include "rows.h"

namespace opcast_ops {
namespace {

// The moments of a row times its lift, relative to an element of it.
template <class T>
struct Moments {
  float base = 0;
  Pair total, shift;  // the sum of the differences, and their mean
  Pair scale;         // 1 / sqrt(variance + eps)
  Lifted sum;

  // x - base times the lift.
  OPCAST_DEVICE Pair Beyond(float x) const {
    return kWide<T> ? Add(x * sum.lift, -base * sum.lift) : Add(x, -base);
  }

  // Whether differences are so large or so small that their products leave float's range.
  OPCAST_DEVICE bool FarOut() const { return sum.lift != 1 || sum.squares.high < 0x1p-90f; }

  OPCAST_DEVICE double Mean(Pair share) const {
    const double n_th = double{share.high} + share.low;
    return base + (double{total.high} + total.low) * n_th / sum.lift;
  }
  OPCAST_DEVICE double Factor() const { return (double{scale.high} + scale.low) * sum.lift; }

  // (x - mean) * scale * weight + bias; not for rows that are far out.
  OPCAST_DEVICE float Place(float x, float weight, float bias) const {
    const Pair beyond = Add(x, -base), centered = Add(beyond.high, -shift.high);
    const Pair normal = Multiply({centered.high, centered.low + (beyond.low - shift.low)}, scale);
    const Pair weighted = Multiply(normal.high, weight), placed = Add(weighted.high, bias);
    const float rest = placed.low + fmaf(normal.low, weight, weighted.low);
    return fabsf(placed.high) <= kLargest ? placed.high + rest : placed.high;
  }
};

template <class T>
struct LayernormRow {
  using Element = T;
  T* y;
  float* mean;  // or null
  float* rstd;  // or null
  const T* x;
  const T* weight;
  const T* bias;
  NormSizes sizes;

  // Adds a vector's differences and their squares to sums.
  template <class Form>
  OPCAST_DEVICE static void AddVector(const Member& member, const Moments<T>& moments,
                                      const Floats<T>& values, int64_t begin, Pair (&sums)[2]) {
    OPCAST_UNROLL
    for (int e = 0; e < values.kSize; ++e) {
      if (!member.Has<Form>(begin, e)) continue;
      const Pair beyond = moments.Beyond(values.at[e]);
      sums[0] = sums[0] + beyond;
      sums[1] = sums[1] + Multiply(beyond, beyond);
    }
  }

  template <class Form>
  OPCAST_DEVICE Moments<T> MomentsOf(Member& member, const Held<T, Form>& held, float first) const {
    Moments<T> moments;
    moments.base = fabsf(first) <= kLargest ? first : 0;
    OPCAST_NO_UNROLL
    for (int pass = 0;; ++pass) {
      Pair sums[2] = {};
      member.ForVectors<T, Form>([&](int k, int64_t begin) {
        AddVector<Form>(member, moments, Widen(held.At(k, begin)), begin, sums);
      });
      member.Sum(sums);
      moments.total = Settle(sums[0]);
      moments.shift = Settle(Multiply(moments.total, sizes.share));
      moments.sum.squares = Settle(sums[1]);
      const float lift = moments.sum.lift;
      const bool growable = fabsf(moments.base) < 0x1p20f;
      if (!kWide<T> || pass == 1 || !member.Any(moments.sum.Adjust(sizes.eps, growable))) {
        moments.sum.lift = lift;
        break;
      }
    }
    const Pair square = Multiply(moments.shift, moments.shift);
    const Pair variance = Settle(Settle(Multiply(moments.sum.squares, sizes.share)) +
                                 Pair{-square.high, -square.low});
    moments.scale = moments.sum.Scale(variance.high < 0 ? Pair{} : variance, sizes.eps);
    return moments;
  }

  template <class Form>
  OPCAST_DEVICE void Run(Member& member, int64_t row, bool there) const {
    const int64_t n = member.n();
    const Held<T, Form> held(member, x + row * n, there);
    const float first = there && n > 0 ? static_cast<float>(x[row * n]) : 0.0f;
    const Moments<T> moments = MomentsOf<Form>(member, held, first);
    if (!there) return;
    member.ForVectors<T, Form>([&](int k, int64_t begin) {
      const Floats<T> weights = Widen(Load<Form::kWhole>(weight, begin, n));
      const Floats<T> shifts = Widen(Load<Form::kWhole>(bias, begin, n));
      Floats<T> values = Widen(held.At(k, begin));
      if (kWide<T> && moments.FarOut()) {
        const double mean = moments.Mean(sizes.share), scale = moments.Factor();
        OPCAST_UNROLL
        for (int e = 0; e < values.kSize; ++e)
          values.at[e] = Round<float>((values.at[e] - mean) * scale * weights.at[e] + shifts.at[e]);
      } else {
        OPCAST_UNROLL
        for (int e = 0; e < values.kSize; ++e)
          values.at[e] = moments.Place(values.at[e], weights.at[e], shifts.at[e]);
      }
      Store<Form::kWhole>(Narrow(values), y + row * n, begin, n);
    });
    if (member.Writes(row)) {  // also for rows of no elements, whose mean is NaN
      if (mean != nullptr) mean[row] = Round<float>(moments.Mean(sizes.share));
      if (rstd != nullptr) rstd[row] = Round<float>(moments.Factor());
    }
  }
};

}  // namespace

opcast::Status Layernorm2dCuda(const Layernorm2dArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const LayernormRow<T> row{a.y, a.mean, a.rstd, a.x, a.weight, a.bias, NormSizes(a.eps, a.N)};
    return ForRows<kFewerThreads>(a.M, a.N, AlignedRows<T>({a.y, a.x, a.weight, a.bias}, a.N),
                                  launch, row);
  });
}

}  // namespace opcast_ops
