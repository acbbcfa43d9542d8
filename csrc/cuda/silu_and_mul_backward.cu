// grad_x[i, j] = grad_y[i, j] * x[i, D + j] * silu'(x[i, j]) and grad_x[i, D + j] = grad_y[i, j] *
// silu(x[i, j]), dense rows. Computed in float, within 4 units in the last place also around the
// zero of silu's slope near -1.28.
#include "gates.h"
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
  bool aligned;

  template <int kVectors>
  OPCAST_DEVICE void Run(Member& member, int64_t row, int64_t size) const {
    const int64_t n = member.n(), start = row * 2 * n;
    member.ForVectors<T, kVectors>([&](int, int64_t begin) {
      const Vector<T> grads = Load(grad_y + row * n, begin, size, aligned);
      Vector<T> gate = Load(x + start, begin, size, aligned);
      Vector<T> value = Load(x + start + n, begin, size, aligned);
      for (int e = 0; e < value.kSize; ++e) {
        const float g = static_cast<float>(gate.at[e]), grad = static_cast<float>(grads.at[e]);
        const Scaled slope = SlopeOf(g, Logistic::Slope(fabsf(g)));
        gate.at[e] = Round<T>(slope.Times(grad, static_cast<float>(value.at[e])));
        value.at[e] = Round<T>(Gated(g, Logistic::Part(fabsf(g))).Times(grad));
      }
      Store(gate, grad_x + start, begin, size, aligned);
      Store(value, grad_x + start + n, begin, size, aligned);
    });
  }
};

}  // namespace

opcast::Status SiluAndMulBackwardCuda(const SiluAndMulBackwardArgs& args,
                                      const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const SiluAndMulBackwardRow<T> row{a.grad_x, a.grad_y, a.x,
                                       AlignedRows<T>({a.grad_x, a.grad_y, a.x}, a.D)};
    return ForRows(a.batch, a.D, launch, row);
  });
}

}  // namespace opcast_ops
