// grad_x[i, j] = grad_y[i, j] * x[i, D + j] * gelu'(x[i, j]) and grad_x[i, D + j] = grad_y[i, j] *
// gelu(x[i, j]), dense rows, with gelu's tanh form; see gate_rows.h.
//
// Registers: at most 72.
// sass: allows narrow in RowsKernel: arrays whose rows are not aligned
#include "cuda/activation/gate_rows.h"
#include "gelu_tanh_and_mul_backward.gen.h"

namespace opcast_ops {

opcast::Status GeluTanhAndMulBackwardCuda(const GeluTanhAndMulBackwardArgs& args,
                                          const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    return GateRowsBackward<CubicLogistic, ShortCubicLogistic>(a, launch);
  });
}

}  // namespace opcast_ops
