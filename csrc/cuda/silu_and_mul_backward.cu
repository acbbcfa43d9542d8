// grad_x[i, j] = grad_y[i, j] * x[i, D + j] * silu'(x[i, j]) and grad_x[i, D + j] = grad_y[i, j] *
// silu(x[i, j]), dense rows. Computed in float, within 4 units in the last place also around the
// zero of silu's slope near -1.28.
//
// Registers: at most 72.
#include "gates.h"
#include "gates16.h"
#include "rows.h"
#include "silu_and_mul_backward.gen.h"

namespace opcast_ops {
namespace {

template <class T>
struct SiluAndMulBackwardRow {
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
        gate.at[e] = SlopeOf(g, Logistic::Slope(fabsf(g))).TimesBoth(grad, value.at[e]);
        if constexpr (sizeof(T) == 2)
          value.at[e] = ShortLogistic::Of(g).Times(grad);
        else
          value.at[e] = Gated(g, Logistic::Part(fabsf(g))).Times(grad);
      }
      Store<Form::kWhole>(Narrow(gate), grad_x + start, begin, n);
      Store<Form::kWhole>(Narrow(value), grad_x + start + n, begin, n);
    });
  }
};

}  // namespace

opcast::Status SiluAndMulBackwardCuda(const SiluAndMulBackwardArgs& args,
                                      const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    return ForRows(a.batch, a.D, AlignedRows<T>({a.grad_x, a.grad_y, a.x}, a.D), launch,
                   SiluAndMulBackwardRow<T>{a.grad_x, a.grad_y, a.x});
  });
}

}  // namespace opcast_ops
