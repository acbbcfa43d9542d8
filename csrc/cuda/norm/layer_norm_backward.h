// Gradients of the layer norms: grad_x[i, j] = rstd[i] * (g[i, j] - mean(g[i]) - z[i, j] *
// mean(g[i] * z[i])) with g = grad_y * weight and z = (x - mean) * rstd; grad_weight and grad_bias
// are the sums of grad_y * z and grad_y over the rows. Dense rows, computed in double and rounded
// once; see column_sums.h for the sums.
#pragma once

#include "cuda/norm/column_sums.h"

namespace opcast_ops {

template <class T, class W>
struct LayerNormBackwardRow {
  using Element = T;
  static constexpr int kSums = 2;
  T* grad_x;
  const T* grad_y;
  const T* x;
  const W* weight;
  const float* mean;
  const float* rstd;

  template <class Form, class Sums>
  OPCAST_DEVICE void Run(Member& member, int64_t row, bool there, Sums& columns) const {
    const int64_t n = member.n();
    const Held<T, Form> held_grad(member, grad_y + row * n, there);
    const Held<T, Form> held_x(member, x + row * n, there);
    const double center = there ? mean[row] : 0, scale = there ? rstd[row] : 0;
    double sums[2] = {0, 0};
    member.ForVectors<T, Form>([&](int k, int64_t begin) {
      const Floats<T> weights = LoadFloats<T, Form::kWhole>(weight, begin, n);
      const Vector<T> grads = held_grad.At(k, begin), values = held_x.At(k, begin);
      OPCAST_UNROLL
      for (int e = 0; e < values.kSize; ++e) {
        if (!member.Has<Form>(begin, e))
          continue;  // zeros after the end, which times infinity are NaN
        const double g = double{static_cast<float>(grads.at[e])} * weights.at[e];
        sums[0] += g;
        sums[1] += g * ((static_cast<float>(values.at[e]) - center) * scale);
      }
    });
    member.Sum(sums);
    if (!there) return;
    const double shift = sums[0] / static_cast<double>(n), along = sums[1] / static_cast<double>(n);
    member.ForVectors<T, Form>([&](int k, int64_t begin) {
      const Floats<T> weights = LoadFloats<T, Form::kWhole>(weight, begin, n);
      const Vector<T> grads = held_grad.At(k, begin);
      Vector<T> values = held_x.At(k, begin);
      OPCAST_UNROLL
      for (int e = 0; e < values.kSize; ++e) {
        const double g = static_cast<float>(grads.at[e]);
        const double normal = (static_cast<float>(values.at[e]) - center) * scale;
        values.at[e] = Round<T>(scale * (g * weights.at[e] - shift - normal * along));
        columns.Add(0, k, begin, e, g * normal);
        columns.Add(1, k, begin, e, g);
      }
      Store<Form::kWhole>(values, grad_x + row * n, begin, n);
    });
  }
};

}  // namespace opcast_ops
