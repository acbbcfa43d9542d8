// loss[i] = lse[i] - (1 - s) * logits[i, target[i]] - s * mean of logits[i], where lse[i] is the
// log-sum-exp of row i and s is the label smoothing; dense rows. Exponentials are float, to an ulp,
// for float32 also of what the difference of two floats loses; sums are pairs of floats. The
// logarithm of a row's sum and the differences are double. Rounded once.
//
// Registers: at most 96.
#include "cross_entropy.gen.h"
#include "cuda/lib/exp.h"
#include "cuda/lib/row_kernels.h"

namespace opcast_ops {
namespace {

template <class T, class I>
struct CrossEntropyRow {
  using Element = T;
  float *loss, *lse;
  const T* logits;
  const I* target;
  int64_t ignored;
  double smoothing;

  // e^(value - max).
  OPCAST_DEVICE static float Weight(float value, float max) {
    if constexpr (sizeof(T) == 2) return Exp(value - max).Value();
    const Pair difference = Add(value, -max);
    const bool counts = difference.high > -200;  // else the result is 0, and the rest may be large
    return Exp(difference.high, counts ? difference.low : 0).Value();
  }

  template <class Form>
  OPCAST_DEVICE float Largest(Member& member, const Held<T, Form>& held) const {
    float largest = -kLargest;
    member.ForVectors<T, Form>([&](int k, int64_t begin) {
      const Floats<T> values = Widen(held.At(k, begin));
      OPCAST_UNROLL
      for (int e = 0; e < values.kSize; ++e) {
        const float v = values.at[e];
        if (member.Has<Form>(begin, e) && v > largest) largest = v;
      }
    });
    return member.Max(largest);
  }

  template <class Form>
  OPCAST_DEVICE void Run(Member& member, int64_t row, bool there) const {
    const Held<T, Form> held(member, logits + row * member.n(), there);
    const float max = Largest<Form>(member, held);
    Pair sums[2] = {};  // of exponentials, and of the logits for the mean
    member.ForVectors<T, Form>([&](int k, int64_t begin) {
      const Floats<T> values = Widen(held.At(k, begin));
      OPCAST_UNROLL
      for (int e = 0; e < values.kSize; ++e) {
        if (!member.Has<Form>(begin, e)) continue;
        sums[0] = sums[0] + Weight(values.at[e], max);
        if (smoothing != 0) sums[1] = sums[1] + values.at[e] * 0x1p-30f;
      }
    });
    member.Sum(sums);
    if (member.Writes(row)) Finish(row, member.n(), max, Settle(sums[0]), Settle(sums[1]));
  }

  OPCAST_DEVICE void Finish(int64_t row, int64_t n, float max, Pair exps, Pair plain) const {
    const double log = ::log(double{exps.high} + exps.low);
    if (lse != nullptr) lse[row] = Round<float>(max + log);
    const int64_t own = target[row];
    if (own == ignored) {
      loss[row] = 0;
    } else if (own < 0 || own >= n) {
      loss[row] = NAN;
    } else {
      double less = (1 - smoothing) * static_cast<float>(logits[row * n + own]);
      const double mean = (double{plain.high} + plain.low) * 0x1p30 / static_cast<double>(n);
      if (smoothing != 0) less += smoothing * mean;
      loss[row] = Round<float>((max - less) + log);
    }
  }
};

}  // namespace

opcast::Status CrossEntropyCuda(const CrossEntropyArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    using I = typename std::decay_t<decltype(a)>::I;
    const CrossEntropyRow<T, I> work{a.loss,   a.lse,          a.logits,
                                     a.target, a.ignore_index, a.label_smoothing};
    return ForRows(a.batch, a.V, AlignedRows<T>({a.logits}, a.V), launch, work);
  });
}

}  // namespace opcast_ops
