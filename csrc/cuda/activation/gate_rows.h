// Rows of gates and of as many values behind them: y[i, j] = gate(x[i, j]) * x[i, D + j], and the
// gradients of that. Computed in float: with a gate of gates.h within 4 units in the last place,
// for 16 bits with one of gates_16_bits.h. A gated number below the smallest float times a large
// one keeps its bits.
#pragma once

#include <cstdint>

#include "cuda/lib/gates.h"
#include "cuda/lib/gates_16_bits.h"
#include "cuda/lib/row_kernels.h"

namespace opcast_ops {

// gate(x) * other for results of T.
template <class T, class Gate, class ShortGate>
OPCAST_DEVICE float GatedTimes(float x, float other) {
  if constexpr (sizeof(T) == 2)
    return ShortGate::Of(x).Times(other);
  else
    return Gated(x, Gate::Part(fabsf(x))).Times(other);
}

template <class T, class Gate, class ShortGate>
struct GateRow {
  using Element = T;
  T* y;
  const T* x;

  template <class Form>
  OPCAST_DEVICE void Run(Member& member, int64_t row, bool there) const {
    if (!there) return;
    const int64_t n = member.n();
    const T* const gates = x + row * 2 * n;
    member.ForVectors<T, Form>([&](int, int64_t begin) {
      const Floats<T> gate = Widen(Load<Form::kWhole>(gates, begin, n));
      Floats<T> value = Widen(Load<Form::kWhole>(gates + n, begin, n));
      OPCAST_UNROLL
      for (int e = 0; e < value.kSize; ++e)
        value.at[e] = GatedTimes<T, Gate, ShortGate>(gate.at[e], value.at[e]);
      Store<Form::kWhole>(Narrow(value), y + row * n, begin, n);
    });
  }
};

template <class Gate, class ShortGate, class A>
opcast::Status GateRows(const A& a, const opcast::Launch& launch) {
  using T = typename A::T;
  return ForRows(a.batch, a.D, AlignedRows<T>({a.y, a.x}, a.D), launch,
                 GateRow<T, Gate, ShortGate>{a.y, a.x});
}

// Also around the zero of the slope.
template <class T, class Gate, class ShortGate>
struct GateBackwardRow {
  using Element = T;
  T* grad_x;
  const T* grad_y;
  const T* x;

  template <class Form>
  OPCAST_DEVICE void Run(Member& member, int64_t row, bool there) const {
    if (!there) return;
    const int64_t n = member.n(), start = row * 2 * n;
    member.ForVectors<T, Form>([&](int, int64_t begin) {
      const Floats<T> grads = Widen(Load<Form::kWhole>(grad_y + row * n, begin, n));
      Floats<T> gate = Widen(Load<Form::kWhole>(x + start, begin, n));
      Floats<T> value = Widen(Load<Form::kWhole>(x + start + n, begin, n));
      OPCAST_UNROLL
      for (int e = 0; e < value.kSize; ++e) {
        const float g = gate.at[e], grad = grads.at[e];
        gate.at[e] = SlopeOf(g, Gate::Slope(fabsf(g))).TimesBoth(grad, value.at[e]);
        value.at[e] = GatedTimes<T, Gate, ShortGate>(g, grad);
      }
      Store<Form::kWhole>(Narrow(gate), grad_x + start, begin, n);
      Store<Form::kWhole>(Narrow(value), grad_x + start + n, begin, n);
    });
  }
};

template <class Gate, class ShortGate, class A>
opcast::Status GateRowsBackward(const A& a, const opcast::Launch& launch) {
  using T = typename A::T;
  return ForRows(a.batch, a.D, AlignedRows<T>({a.grad_x, a.grad_y, a.x}, a.D), launch,
                 GateBackwardRow<T, Gate, ShortGate>{a.grad_x, a.grad_y, a.x});
}

}  // namespace opcast_ops
