// The gradients of y[i, j] = (value + 1) * gate * sigmoid(alpha * gate) (see swigluoai_and_mul.cu):
// grad_x[i, 2j] = grad_y[i, j] * (value + 1) * slope(gate) and grad_x[i, 2j + 1] = grad_y[i, j] *
// gate * sigmoid(alpha * gate), but 0 for what is beyond the limit, as autograd has it for clamp.
// Dense rows; see swigluoai.h. The slope is that of silu at alpha * gate, in two parts also for 16
// bits, since its zero is at no number in particular for any alpha.
//
// Registers: at most 72.
// sass: allows narrow in RowsKernel: arrays whose rows are not aligned
#include "cuda/activation/swigluoai.h"
#include "swigluoai_and_mul_backward.gen.h"

namespace opcast_ops {
namespace {

template <class T>
struct SwigluoaiBackwardRow {
  using Element = T;
  T* grad_x;
  const T* grad_y;
  const T* x;
  LimitedGates gates;

  OPCAST_DEVICE float ToGate(float grad, float gate, float value) const {
    if (gates.limits.LimitsGate(gate)) return 0;
    const Argument argument(gates.alpha, gate);
    const Scaled part = Logistic::Slope(argument.magnitude.high, argument.magnitude.low);
    return SlopeOf(argument.number, part).TimesBoth(grad, gates.limits.OnePlusValue(value));
  }
  OPCAST_DEVICE float ToValue(float grad, float gate, float value) const {
    if (gates.limits.LimitsValue(value)) return 0;
    return gates.GatedTimes<T>(gates.limits.Gate(gate), grad);
  }

  template <class Form>
  OPCAST_DEVICE void Run(Member& member, int64_t row, bool there) const {
    if (!there) return;
    const int64_t n = member.n();
    member.ForVectors<T, Form>([&](int, int64_t begin) {
      const Floats<T> grads = Widen(Load<Form::kWhole>(grad_y + row * n, begin, n));
      PairsOf<T> pairs;
      pairs.template Load<Form::kWhole>(x + row * 2 * n, begin, n);
      OPCAST_UNROLL
      for (int e = 0; e < grads.kSize; ++e) {
        const float gate = pairs.gates.at[e], value = pairs.values.at[e];
        pairs.gates.at[e] = ToGate(grads.at[e], gate, value);
        pairs.values.at[e] = ToValue(grads.at[e], gate, value);
      }
      pairs.template Store<Form::kWhole>(grad_x + row * 2 * n, begin, n);
    });
  }
};

}  // namespace

opcast::Status SwigluoaiAndMulBackwardCuda(const SwigluoaiAndMulBackwardArgs& args,
                                           const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const SwigluoaiBackwardRow<T> row{a.grad_x, a.grad_y, a.x, LimitedGates(a.limit, a.alpha)};
    return ForRows(a.batch, a.D, AlignedRows<T>({a.grad_x, a.grad_y, a.x}, a.D), launch, row);
  });
}

}  // namespace opcast_ops
