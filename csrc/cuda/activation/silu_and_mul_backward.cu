// grad_x[i, j] = grad_y[i, j] * x[i, D + j] * silu'(x[i, j]) and grad_x[i, D + j] = grad_y[i, j] *
// silu(x[i, j]), dense rows; see gate_rows.h.
//
// Registers: at most 72.
// sass: allows narrow in RowsKernel: arrays whose rows are not aligned
#include "cuda/activation/gate_rows.h"
#include "silu_and_mul_backward.gen.h"

namespace opcast_ops {

opcast::Status SiluAndMulBackwardCuda(const SiluAndMulBackwardArgs& args,
                                      const opcast::Launch& launch) {
  return Visit(args,
               [&](const auto& a) { return GateRowsBackward<Logistic, ShortLogistic>(a, launch); });
}

}  // namespace opcast_ops
