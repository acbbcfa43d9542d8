// grad_x[i, j] = y[i, j] * (grad_y[i, j] - sum of grad_y * y over row i), dense rows. Products and
// sum are pairs of floats. What follows is float arithmetic: a difference of nearly equal numbers
// is exact, so three roundings remain. A row whose sum leaves the range of floats is summed once
// more, times a power of two, and goes on in double.
//
// Registers: at most 120.
#include "pair.h"
#include "rows.h"
#include "softmax_backward.gen.h"

namespace opcast_ops {
namespace {

template <class T>
struct SoftmaxBackwardRow {
  using Element = T;
  T* grad_x;
  const T* grad_y;
  const T* y;

  template <class Form>
  OPCAST_DEVICE void Run(Member& member, int64_t row, bool there) const {
    const int64_t n = member.n();
    const Held<T, Form> held_grad(member, grad_y + row * n, there);
    const Held<T, Form> held_y(member, y + row * n, there);
    Pair total;
    float less = 1;
    OPCAST_NO_UNROLL
    for (int pass = 0;; ++pass) {
      Pair sum{};
      member.ForVectors<T, Form>([&](int k, int64_t begin) {
        const Floats<T> grads = Widen(held_grad.At(k, begin)), values = Widen(held_y.At(k, begin));
        OPCAST_UNROLL
        for (int e = 0; e < values.kSize; ++e)
          sum = sum + (kWide<T> ? Multiply(grads.at[e] * less, values.at[e] * less)
                                : Multiply(grads.at[e], values.at[e]));
      });
      total = Settle(member.Sum(sum));
      const bool large = kWide<T> && less == 1 && !(fabsf(total.high) <= kLargest);
      if (!kWide<T> || pass == 1 || !member.Any(large)) break;
      if (large) less = 0x1p-80f;
    }
    if (!there) return;
    const double wide_total = (double{total.high} + total.low) * 0x1p160;  // if less is 2^-80
    member.ForVectors<T, Form>([&](int k, int64_t begin) {
      const Floats<T> grads = Widen(held_grad.At(k, begin));
      Floats<T> values = Widen(held_y.At(k, begin));
      OPCAST_UNROLL
      for (int e = 0; e < values.kSize; ++e) {
        const float centered = grads.at[e] - total.high - total.low;
        values.at[e] = kWide<T> && less < 1
                           ? Round<float>(values.at[e] * (grads.at[e] - wide_total))
                           : values.at[e] * centered;
      }
      Store<Form::kWhole>(Narrow(values), grad_x + row * n, begin, n);
    });
  }
};

}  // namespace

opcast::Status SoftmaxBackwardCuda(const SoftmaxBackwardArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    return ForRows(a.batch, a.N, AlignedRows<T>({a.grad_x, a.grad_y, a.y}, a.N), launch,
                   SoftmaxBackwardRow<T>{a.grad_x, a.grad_y, a.y});
  });
}

}  // namespace opcast_ops
