// y[i, j] = exp(x[i, j] - max) / sum of the same over row i, dense rows. For results of float32 the
// differences and the sum are pairs of floats, so that small probabilities are right too; the rest
// is float, three roundings: within 2.6 ulp. For results of 16 bits, all is float. A row that holds
// NaN or +inf, or nothing but -inf, becomes NaN.
//
// Registers: at most 96.
#include "cuda/lib/exp.h"
#include "cuda/lib/gates_16_bits.h"
#include "cuda/lib/row_kernels.h"
#include "softmax.gen.h"

namespace opcast_ops {
namespace {

template <class T>
struct SoftmaxRow {
  using Element = T;
  T* y;
  const T* x;

  // e^(value - max).
  OPCAST_DEVICE static float Weight(float value, float max) {
    if constexpr (sizeof(T) == 2) return ShortExp(value - max);
    const Pair difference = Add(value, -max);
    const bool counts = difference.high > -200;  // else the result is 0, and the rest may be large
    return Exp(difference.high, counts ? difference.low : 0).Value();
  }

  template <class Form>
  OPCAST_DEVICE float Largest(Member& member, const Held<T, Form>& held) const {
    float largest = -INFINITY;
    member.ForVectors<T, Form>([&](int k, int64_t begin) {
      const Floats<T> values = Widen(held.At(k, begin));
      OPCAST_UNROLL
      for (int e = 0; e < values.kSize; ++e) {
        const float v = values.at[e];
        if (member.Has<Form>(begin, e) && v > largest) largest = v;
      }
    });
    return member.Max(largest);
  }

  template <class Form>
  OPCAST_DEVICE void Run(Member& member, int64_t row, bool there) const {
    const int64_t n = member.n();
    const Held<T, Form> held(member, x + row * n, there);
    const float max = Largest<Form>(member, held);
    Floats<T> weights[Form::kVectors > 0 ? Form::kVectors : 1];
    const auto weigh = [&](int k, int64_t begin) {
      const Floats<T> values = Widen(held.At(k, begin));
      OPCAST_UNROLL
      for (int e = 0; e < values.kSize; ++e) weights[k].at[e] = Weight(values.at[e], max);
    };
    Pair sum{};
    member.ForVectors<T, Form>([&](int k, int64_t begin) {
      weigh(k, begin);
      float of_vector = 0;  // not for float32, whose results such a sum would change
      OPCAST_UNROLL
      for (int e = 0; e < Vector<T>::kSize; ++e) {
        if (!member.Has<Form>(begin, e)) continue;
        if constexpr (sizeof(T) == 2)
          of_vector += weights[k].at[e];
        else
          sum = sum + weights[k].at[e];
      }
      if constexpr (sizeof(T) == 2) sum = sum + of_vector;
    });
    const float scale = 1 / Settle(member.Sum(sum)).high;
    if (!there) return;
    member.ForVectors<T, Form>([&](int k, int64_t begin) {
      if constexpr (Form::kVectors == 0) weigh(k, begin);
      OPCAST_UNROLL
      for (float& weight : weights[k].at) weight *= scale;
      Store<Form::kWhole>(Narrow(weights[k]), y + row * n, begin, n);
    });
  }
};

}  // namespace

opcast::Status SoftmaxCuda(const SoftmaxArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    return ForRows(a.batch, a.N, AlignedRows<T>({a.y, a.x}, a.N), launch, SoftmaxRow<T>{a.y, a.x});
  });
}

}  // namespace opcast_ops
