// grad_x[i, j] = grad_y[i, j] * x[i, D + j] * silu'(x[i, j]) and grad_x[i, D + j] = grad_y[i, j] *
// silu(x[i, j]), dense rows. Computed in double (see SiluSlope), rounded
// once.
#include "gate.h"
#include "map.h"
#include "rows.h"
#include "silu_and_mul_backward.gen.h"

namespace opcast_ops {

opcast::Status SiluAndMulBackward(const SiluAndMulBackwardArgs& args,
                                  const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const int64_t n = a.D;
    const auto rows = [&a, n](int64_t begin, int64_t end, auto width) {
      const auto gate_slope = [=](double grad, double gate, double value) {
        return grad * value * SiluSlope(gate, Sigmoid<width>(gate));
      };
      const auto value_slope = [=](double grad, double gate) {
        return grad * (gate * Sigmoid<width>(gate));
      };
      for (int64_t i = begin; i < end; ++i) {
        const T* grad = a.grad_y + i * n;
        const T* gate = a.x + i * 2 * n;
        T* grad_gate = a.grad_x + i * 2 * n;
        Map<width>(n, gate_slope, grad_gate, grad, gate, gate + n);
        Map<width>(n, value_slope, grad_gate + n, grad, gate);
      }
    };
    opcast::ParallelFor(launch, a.batch, RowsPerChunk(2 * n), rows);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
