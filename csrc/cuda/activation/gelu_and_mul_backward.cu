// grad_x[i, j] = grad_y[i, j] * x[i, D + j] * gelu'(x[i, j]) and grad_x[i, D + j] = grad_y[i, j] *
// gelu(x[i, j]), dense rows, with the exact gelu; see gate_rows.h.
//
// Registers: at most 72.
// sass: allows call in RowsKernel: precision, as the head of this file says
// sass: allows narrow in RowsKernel: arrays whose rows are not aligned
#include "cuda/activation/gate_rows.h"
#include "gelu_and_mul_backward.gen.h"

namespace opcast_ops {

opcast::Status GeluAndMulBackwardCuda(const GeluAndMulBackwardArgs& args,
                                      const opcast::Launch& launch) {
  return Visit(args,
               [&](const auto& a) { return GateRowsBackward<Normal, ShortNormal>(a, launch); });
}

}  // namespace opcast_ops
