// grad_x[i, j] = y[i, j] * (grad_y[i, j] - sum of grad_y * y over row i), dense rows. Products are
// pairs of floats. So is the sum for 16 bits; for float32 it is three floats, since a gradient may
// agree with the sum in all its digits. What follows is float arithmetic: a difference of nearly
// equal numbers is exact, so four roundings remain. A row whose sum leaves the range of floats is
// summed once more, times a power of two, and goes on in double.
//
// Registers: at most 120.
// sass: allows fp64 in RowsKernel: precision, as the head of this file says
// sass: allows narrow in RowsKernel: arrays whose rows are not aligned
#include <type_traits>

#include "cuda/lib/float_pairs.h"
#include "cuda/lib/row_kernels.h"
#include "softmax_backward.gen.h"

namespace opcast_ops {
namespace {

// A sum as three floats, each small beside the one before: an error of some 2^-70.
struct Triple {
  float high, mid, low;
};

// Commutative in all bits.
OPCAST_DEVICE Triple operator+(Triple a, Triple b) {
  const Pair high = Add(a.high, b.high), mids = Add(a.mid, b.mid), mid = Add(mids.high, high.low);
  return {high.high, mid.high, (a.low + b.low) + (mids.low + mid.low)};
}
OPCAST_DEVICE Triple operator+(Triple a, Pair b) { return a + Triple{b.high, b.low, 0}; }

// For opcast::WarpReduce.
OPCAST_DEVICE Triple ShuffleXor(Triple value, int mask, int width) {
  return {opcast::ShuffleXor(value.high, mask, width), opcast::ShuffleXor(value.mid, mask, width),
          opcast::ShuffleXor(value.low, mask, width)};
}

// Numbers of sums: each part is rounded from all that follow.
OPCAST_DEVICE Triple Parts(Pair sum) {
  const Pair settled = Settle(sum);
  return {settled.high, settled.low, 0};
}
OPCAST_DEVICE Triple Parts(Triple sum) {
  if (!(fabsf(sum.high) <= kLargest)) return {sum.high, 0, 0};  // then the rest is NaN
  const Pair rest = Add(sum.mid, sum.low), high = Add(sum.high, rest.high);
  const Pair mid = Add(high.low, rest.low);
  return {high.high, mid.high, mid.low};
}

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
    using Sum = std::conditional_t<sizeof(T) == 4, Triple, Pair>;
    Triple total;
    float less = 1;
    OPCAST_NO_UNROLL
    for (int pass = 0;; ++pass) {
      Sum sum{};
      member.ForVectors<T, Form>([&](int k, int64_t begin) {
        const Floats<T> grads = Widen(held_grad.At(k, begin)), values = Widen(held_y.At(k, begin));
        OPCAST_UNROLL
        for (int e = 0; e < values.kSize; ++e)
          sum = sum + (kWide<T> ? Multiply(grads.at[e] * less, values.at[e] * less)
                                : Multiply(grads.at[e], values.at[e]));
      });
      total = Parts(member.Sum(sum));
      const bool large = kWide<T> && less == 1 && !(fabsf(total.high) <= kLargest);
      if (!kWide<T> || pass == 1 || !member.Any(large)) break;
      if (large) less = 0x1p-80f;
    }
    if (!there) return;
    const double wide_total = (double{total.high} + total.mid) * 0x1p160;  // if less is 2^-80
    member.ForVectors<T, Form>([&](int k, int64_t begin) {
      const Floats<T> grads = Widen(held_grad.At(k, begin));
      Floats<T> values = Widen(held_y.At(k, begin));
      OPCAST_UNROLL
      for (int e = 0; e < values.kSize; ++e) {
        const float centered = grads.at[e] - total.high - total.mid - total.low;
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
