// grad_x[i, j] = grad_y[i, j] * x[i, D + j] * silu'(x[i, j]) and grad_x[i, D + j] = grad_y[i, j] *
// silu(x[i, j]), dense rows. Computed in double (see SiluSlope), rounded once.
#include "convert.h"
#include "gate.h"
#include "rows.h"
#include "silu_and_mul_backward.gen.h"

namespace opcast_ops {

opcast::Status SiluAndMulBackward(const SiluAndMulBackwardArgs& args,
                                  const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const int64_t n = a.D;
    const auto rows = [&a, n](int64_t begin, int64_t end, auto width) {
      FloatRow<width, T> grad_row(n), x_row(2 * n), result(2 * n);
      for (int64_t i = begin; i < end; ++i) {
        const float* grad = grad_row.Read(a.grad_y + i * n);
        const float* x = x_row.Read(a.x + i * 2 * n);
        T* grad_x = a.grad_x + i * 2 * n;
        float* to = result.Write(grad_x);
        for (int64_t j = 0; j < n; ++j) {
          const double g = grad[j], gate = x[j], sigmoid = Sigmoid<width>(gate);
          to[j] = Round<float>(g * x[n + j] * SiluSlope(gate, sigmoid));
          to[n + j] = Round<float>(g * (gate * sigmoid));
        }
        result.Wrote(grad_x);
      }
    };
    opcast::ParallelFor(launch, a.batch, RowsPerChunk(2 * n), rows);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
