// Merging states of attention: a team of threads has a row, and adds up its parts in order.
//
// Weights, sums and the log-sum-exp of all are double, since parts may cancel: the kernel waits for
// memory all the same. Parts without keys are not read: those whose log-sum-exp is -inf, or inf,
// which some libraries give for them.
#pragma once

#include <cmath>

#include "cuda/lib/row_kernels.h"

namespace opcast_ops {

// States says where the parts of a row are:
//   int64_t count
//   const T* V(int64_t row, int64_t i, int64_t n) const
//   float S(int64_t row, int64_t i) const
template <class T, class States>
struct MergeRow {
  using Element = T;
  States states;
  T* v;
  float* s;

  // Whether a state has no keys: for these, some libraries give inf.
  OPCAST_DEVICE static bool OfNone(float lse) { return lse == -INFINITY || lse == INFINITY; }

  // e^(lse - largest).
  OPCAST_DEVICE static double Weight(float lse, float largest) {
    return lse == largest ? 1.0 : exp(static_cast<double>(lse) - largest);
  }

  template <class Form>
  OPCAST_DEVICE void Run(Member& member, int64_t row, bool there) const {
    if (!there) return;
    const int64_t n = member.n();
    float largest = -INFINITY;
    double sum = 0;
    int64_t live = 0, last = 0;
    for (int64_t i = 0; i < states.count; ++i) {
      const float lse = states.S(row, i);
      if (OfNone(lse)) continue;
      ++live, last = i;
      if (!(lse <= largest) && largest == largest) largest = lse;
    }
    for (int64_t i = 0; i < states.count; ++i) {
      const float lse = states.S(row, i);
      if (!OfNone(lse)) sum += Weight(lse, largest);
    }
    if (member.Writes(row)) s[row] = live == 1 ? largest : static_cast<float>(largest + log(sum));
    const bool copies = live == 1 && largest == largest;
    const double scale = live == 0 ? 1 : 1 / sum;
    member.ForVectors<T, Form>([&](int, int64_t begin) {
      if (copies) {
        const Vector<T> only = Load<Form::kWhole>(states.V(row, last, n), begin, n);
        return Store<Form::kWhole>(only, v + row * n, begin, n);
      }
      double sums[Vector<T>::kSize] = {};
      bool any = false;
      for (int64_t i = 0; i < states.count; ++i) {
        const float lse = states.S(row, i);
        if (OfNone(lse)) continue;
        const double weight = Weight(lse, largest) * scale;
        const Floats<T> part = Widen(Load<Form::kWhole>(states.V(row, i, n), begin, n));
        OPCAST_UNROLL
        for (int e = 0; e < part.kSize; ++e)
          sums[e] = any ? fma(weight, double{part.at[e]}, sums[e]) : weight * part.at[e];
        any = true;
      }
      Floats<T> narrow;
      OPCAST_UNROLL
      for (int e = 0; e < narrow.kSize; ++e) narrow.at[e] = static_cast<float>(sums[e]);
      Store<Form::kWhole>(Narrow(narrow), v + row * n, begin, n);
    });
  }
};

}  // namespace opcast_ops
