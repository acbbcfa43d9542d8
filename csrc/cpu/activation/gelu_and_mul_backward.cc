// grad_x[i, j] = grad_y[i, j] * x[i, D + j] * gelu'(x[i, j]) and grad_x[i, D + j] = grad_y[i, j] *
// gelu(x[i, j]), dense rows, with the exact gelu. In float or double, as gelu_and_mul. Rounded
// once.
#include "cpu/lib/standard_headers.h"

#include "cpu/activation/gelu_gate.h"
#include "gelu_and_mul_backward.gen.h"

namespace opcast_ops {

opcast::Status GeluAndMulBackward(const GeluAndMulBackwardArgs& args,
                                  const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    return GateRowsBackward<GeluGateGradients<ExactGelu>>(a, launch);
  });
}

}  // namespace opcast_ops
