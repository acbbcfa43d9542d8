// grad_x[i, j] = grad_y[i, j] * x[i, D + j] * silu'(x[i, j]) and grad_x[i, D + j] = grad_y[i, j] *
// silu(x[i, j]), dense rows. Computed in double, rounded once.
#include "rows.h"
#include "scalar.h"
#include "silu_and_mul_backward.gen.h"

namespace opcast_ops {

opcast::Status SiluAndMulBackward(const SiluAndMulBackwardArgs& args,
                                  const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const int64_t n = a.D;
    opcast::ParallelFor(launch, a.batch, RowsPerChunk(2 * n), [&a, n](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const T* grad_y = a.grad_y + i * n;
        const T* gate = a.x + i * 2 * n;
        const T* value = gate + n;
        T* grad_gate = a.grad_x + i * 2 * n;
        T* grad_value = grad_gate + n;
        for (int64_t j = 0; j < n; ++j) {
          const double grad = static_cast<float>(grad_y[j]), g = static_cast<float>(gate[j]);
          const double sigmoid = Sigmoid(g);
          grad_gate[j] = Round<T>(grad * static_cast<float>(value[j]) * SiluSlope(g, sigmoid));
          grad_value[j] = Round<T>(grad * (g * sigmoid));
        }
      }
    });
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
