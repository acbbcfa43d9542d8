// The gradients of y[i, j] = gate(x[i, j]) * x[i, D + j] (see gate_rows.h): grad_x[i, j] =
// grad_y[i, j] * x[i, D + j] * gate'(x[i, j]) and grad_x[i, D + j] = grad_y[i, j] * gate(x[i, j]).
//
// A form of them has, for results of T: Of<kWidth, T>(grad, gate, value) in float; SignOfBeyond<T>
// (grad, gate, value), a number that is negative where that does not hold, since a part of it is
// infinite, or NaN; and Wide<kWidth>(grad, gate, value) in double, which all elements of a row are
// computed by if one is beyond float, and those of all rows where kAlwaysWide<T>.
#pragma once

#include "cpu/lib/map_elements.h"
#include "cpu/lib/nan_free_vectors.h"
#include "cpu/lib/row_reductions.h"
#include "opcast/kernel.h"

namespace opcast_ops {

// Both gradients of one element.
struct GateGradients {
  float gate, value;
};

// The gradients of a vector in float, which take the places of grad and gate; `broken` becomes
// negative where they do not hold. Forms may have another one for some vectors.
template <class Form, class T, int kWidth>
inline void GateLanes(Form, const T*, Lanes<kWidth>* grad, Lanes<kWidth>* gate,
                      const Lanes<kWidth>& value, int32_t* broken) {
#pragma GCC unroll 1
  for (int j = 0; j < Lanes<kWidth>::kCount; ++j) {
    float &a = grad->numbers[j], &b = gate->numbers[j];
    const float c = value.numbers[j];
    broken[j] |= Form::template SignOfBeyond<T>(a, b, c);
    const GateGradients both = Form::template Of<kWidth, T>(a, b, c);
    a = both.gate, b = both.value;
  }
}

// Both gradients of a row in float, and whether none of its elements is beyond float.
template <class Form, int kWidth, class T>
inline bool GateRowInFloat(const T* grad, const T* gate, int64_t n, T* to) {
  using S = Step<kWidth, T>;
  int32_t broken[S::kLanes] = {};
  ForParts<S::kCount>(n, [&](int64_t i, auto count) {
    for (const T* from : {grad, gate, gate + n}) FetchSoon(from + i);
    S g, x, v;
    g.Load(grad + i, count);
    x.Load(gate + i, count);
    v.Load(gate + n + i, count);
    for (int k = 0; k < S::kVectors; ++k)
      GateLanes(Form(), grad, &g.vectors[k], &x.vectors[k], v.vectors[k], broken);
    g.Store(to + i, count);
    x.Store(to + n + i, count);
  });
  return NoneNegative(broken);
}

template <int kWidth, class Form, class T>
inline void GateRowInDouble(const Form& form, const T* grad, const T* gate, int64_t n, T* to) {
  ForLanes<kWidth>(n, [&](int64_t i, auto count) {
    auto g = LoadSome<kWidth>(grad + i, count), x = LoadSome<kWidth>(gate + i, count);
    const auto v = LoadSome<kWidth>(gate + n + i, count);
#pragma GCC unroll 1
    for (int j = 0; j < Lanes<kWidth>::kCount; ++j) {
      const GateGradients both =
          form.template Wide<kWidth>(g.numbers[j], x.numbers[j], v.numbers[j]);
      g.numbers[j] = both.gate, x.numbers[j] = both.value;
    }
    g.StoreSome(to + i, count);
    x.StoreSome(to + n + i, count);
  });
}

template <class Form, class A>
inline opcast::Status GateRowsBackward(const A& a, const opcast::Launch& launch) {
  using T = typename A::T;
  const int64_t n = a.D;
  const auto rows = [&a, n](int64_t begin, int64_t end, auto width) {
    for (int64_t i = begin; i < end; ++i) {
      const T *grad = a.grad_y + i * n, *x = a.x + i * 2 * n;
      T* to = a.grad_x + i * 2 * n;
      if constexpr (!Form::template kAlwaysWide<T>) {
        if (GateRowInFloat<Form, width>(grad, x, n, to)) continue;
      }
      GateRowInDouble<width>(Form(), grad, x, n, to);
    }
  };
  opcast::ParallelFor(launch, a.batch, RowsPerChunk(2 * n), rows);
  return opcast::Status::Ok();
}

}  // namespace opcast_ops
