// grad_logits[i, j] = grad_loss[i] * (exp(logits[i, j] - lse[i]) - (1 - s) [j = target[i]] - s /
// V), where s is the label smoothing; dense rows. Exponentials are float, for float32 also of what
// the difference of two floats loses. A difference that cancels more than half, and what may leave
// the range of floats on the way, is computed in double. Where 16 bits are wanted and nothing is
// subtracted, the power is the GPU's own. Rounded once. Long rows are cut into parts.
//
// Registers: at most 96.
// sass: allows call in PartsKernel: indices beyond 32 bits
// sass: allows fp64 in PartsKernel: precision, as the head of this file says
// sass: allows narrow in PartsKernel: arrays whose rows are not aligned
// sass: allows fp64 in RowsKernel: precision, as the head of this file says
// sass: allows narrow in RowsKernel: arrays whose rows are not aligned
#include "cross_entropy_backward.gen.h"
#include "cuda/lib/exp.h"
#include "cuda/lib/gates_16_bits.h"
#include "cuda/lib/row_parts.h"

namespace opcast_ops {
namespace {

// What is subtracted from the exponential, and multiplied with it.
struct Goal {
  double less, grad;
};

// grad * (e^(x - lse) - less).
OPCAST_DEVICE float GradientInDouble(float x, float lse, Goal goal) {
  return static_cast<float>(goal.grad * (::exp(double{x} - double{lse}) - goal.less));
}

template <class T>
OPCAST_DEVICE float Gradient(float x, float lse, Goal goal) {
  const Pair difference = Add(x, -lse);
  const float grad = static_cast<float>(goal.grad);
  if (fabsf(difference.high) < 80 && fabsf(grad) < 0x1p100f) {
    const Power power = Exp(difference.high, sizeof(T) == 2 ? 0 : difference.low);
    if (goal.less == 0) return power.Times(1).Times(grad);
    const Pair less = PairOf(goal.less);
    const float slope = (power.Value() - less.high) - less.low;
    if (!(fabsf(slope) < 0.5f * less.high)) return slope * grad;
  }
  return GradientInDouble(x, lse, goal);
}

// The same for numbers of 16 bits from which nothing is subtracted. The root of the power is normal
// where the power is not.
template <class T>
OPCAST_DEVICE Floats<T> Gradients(Floats<T> values, float lse, float grad) {
  OPCAST_UNROLL
  for (float& value : values.at) {
    const float root = opcast::FastExp2(kLog2E / 2 * (value - lse));
    value = root * grad * root;
  }
  return values;
}

template <class T, class I>
struct CrossEntropyBackwardRow {
  using Element = T;
  T* grad_logits;
  const float* grad_loss;
  const T* logits;
  const I* target;
  const float* lse;
  int64_t n, ignored;
  double smoothing;

  // Elements of a row from `from` on.
  template <class Form>
  OPCAST_DEVICE void RunFrom(const Member& member, int64_t row, int64_t from) const {
    const Held<T, Form> held(member, logits + row * n + from, true);
    const int64_t own = target[row];
    const bool fine = own >= 0 && own < n && own != ignored;
    const double even = smoothing / static_cast<double>(n);
    const float norm = lse[row], grad = grad_loss[row];
    T* const to = grad_logits + row * n + from;
    member.ForVectors<T, Form>([&](int k, int64_t begin) {
      Floats<T> values = Widen(held.At(k, begin));
      if (!fine) {
        OPCAST_UNROLL
        for (float& value : values.at) value = own == ignored ? 0 : NAN;
      } else if (sizeof(T) == 2 && smoothing == 0) {
        values = Gradients<T>(values, norm, grad);
      } else {
        OPCAST_UNROLL
        for (float& value : values.at) value = Gradient<T>(value, norm, {even, double{grad}});
      }
      Store<Form::kWhole>(Narrow(values), to, begin, member.n());
      if (fine && static_cast<uint64_t>(own - from - begin) < values.kSize)  // it has the target
        to[own - from] = Round<T>(Gradient<T>(static_cast<float>(logits[row * n + own]), norm,
                                              {even + (1 - smoothing), double{grad}}));
    });
  }

  template <class Form>
  OPCAST_DEVICE void Run(Member& member, int64_t row, bool there) const {
    if (there) RunFrom<Form>(member, row, 0);
  }
  template <class Form>
  OPCAST_DEVICE void Run(Member& member, const Parts&, const Part& part) const {
    RunFrom<Form>(member, part.row, part.begin);
  }
};

}  // namespace

opcast::Status CrossEntropyBackwardCuda(const CrossEntropyBackwardArgs& args,
                                        const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    using I = typename std::decay_t<decltype(a)>::I;
    const CrossEntropyBackwardRow<T, I> work{
        a.grad_logits, a.grad_loss, a.logits,       a.target,
        a.lse,         a.V,         a.ignore_index, a.label_smoothing};
    const bool aligned = AlignedRows<T>({a.grad_logits, a.logits}, a.V);
    if (IsLong<T>(a.V)) return ForParts(Parts::Of<T>(a.batch, a.V), aligned, launch, work);
    return ForRows(a.batch, a.V, aligned, launch, work);
  });
}

}  // namespace opcast_ops
