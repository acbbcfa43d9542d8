// grad_x[i, j] = y[i, j] * (grad_y[i, j] - sum of grad_y * y over row i), dense rows. The sum is
// computed in double, where its products are exact. What follows is float arithmetic with the sum
// as a pair of floats: a difference of nearly equal numbers is exact, so three roundings remain.
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
  bool aligned;

  template <int kVectors>
  OPCAST_DEVICE void Run(Member& member, int64_t row, int64_t size) const {
    const int64_t n = member.n();
    const Held<T, kVectors> held_grad(member, grad_y + row * n, size, aligned);
    const Held<T, kVectors> held_y(member, y + row * n, size, aligned);
    double sum = 0;
    member.ForVectors<T, kVectors>([&](int k, int64_t begin) {
      const Vector<T> grads = held_grad.At(k, begin), values = held_y.At(k, begin);
      for (int e = 0; e < values.kSize; ++e)
        sum += double{static_cast<float>(grads.at[e])} * static_cast<float>(values.at[e]);
    });
    const Pair total = PairOf(member.Sum(sum));
    member.ForVectors<T, kVectors>([&](int k, int64_t begin) {
      const Vector<T> grads = held_grad.At(k, begin);
      Vector<T> values = held_y.At(k, begin);
      for (int e = 0; e < values.kSize; ++e) {
        const float centered = static_cast<float>(grads.at[e]) - total.high - total.low;
        values.at[e] = Round<T>(static_cast<float>(values.at[e]) * centered);
      }
      Store(values, grad_x + row * n, begin, size, aligned);
    });
  }
};

}  // namespace

opcast::Status SoftmaxBackwardCuda(const SoftmaxBackwardArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const SoftmaxBackwardRow<T> row{a.grad_x, a.grad_y, a.y,
                                    AlignedRows<T>({a.grad_x, a.grad_y, a.y}, a.N)};
    return ForRows(a.batch, a.N, launch, row);
  });
}

}  // namespace opcast_ops
