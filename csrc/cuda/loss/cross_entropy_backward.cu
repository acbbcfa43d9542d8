// grad_logits[i, j] = grad_loss[i] * (exp(logits[i, j] - lse[i]) - (1 - s) [j = target[i]] - s /
// V), where s is the label smoothing; dense rows. Exponentials are float, for float32 also of what
// the difference of two floats loses. A difference that cancels more than half, and what may leave
// the range of floats on the way, is computed in double. Rounded once.
//
// Registers: at most 96.
#include "cross_entropy_backward.gen.h"
#include "cuda/lib/exp.h"
#include "cuda/lib/row_kernels.h"

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
  const bool tame = fabsf(difference.high) < 80 && fabsf(grad) < 0x1p100f;
  if (!tame) return GradientInDouble(x, lse, goal);
  const Power power = Exp(difference.high, sizeof(T) == 2 ? 0 : difference.low);
  if (goal.less == 0) return power.Times(1).Times(grad);
  const Pair less = PairOf(goal.less);
  const float slope = (power.Value() - less.high) - less.low;
  if (fabsf(slope) < 0.5f * less.high) return GradientInDouble(x, lse, goal);
  return slope * grad;
}

template <class T, class I>
struct CrossEntropyBackwardRow {
  using Element = T;
  T* grad_logits;
  const float* grad_loss;
  const T* logits;
  const I* target;
  const float* lse;
  int64_t ignored;
  double smoothing;

  template <class Form>
  OPCAST_DEVICE void Run(Member& member, int64_t row, bool there) const {
    if (!there) return;
    const int64_t n = member.n(), own = target[row];
    const bool fine = own >= 0 && own < n && own != ignored;
    const double even = smoothing / static_cast<double>(n), grad = grad_loss[row];
    const float norm = lse[row];
    member.ForVectors<T, Form>([&](int, int64_t begin) {
      Floats<T> values = Widen(Load<Form::kWhole>(logits + row * n, begin, n));
      OPCAST_UNROLL
      for (int e = 0; e < values.kSize; ++e) {
        const Goal goal = {begin + e == own ? even + (1 - smoothing) : even, grad};
        values.at[e] = fine ? Gradient<T>(values.at[e], norm, goal) : own == ignored ? 0 : NAN;
      }
      Store<Form::kWhole>(Narrow(values), grad_logits + row * n, begin, n);
    });
  }
};

}  // namespace

opcast::Status CrossEntropyBackwardCuda(const CrossEntropyBackwardArgs& args,
                                        const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    using I = typename std::decay_t<decltype(a)>::I;
    const CrossEntropyBackwardRow<T, I> work{
        a.grad_logits, a.grad_loss, a.logits, a.target, a.lse, a.ignore_index, a.label_smoothing};
    return ForRows(a.batch, a.V, AlignedRows<T>({a.grad_logits, a.logits}, a.V), launch, work);
  });
}

}  // namespace opcast_ops
