// y[i, j] = gelu(x[i, j]) * x[i, D + j], dense rows, with the exact gelu; see gate_rows.h.
//
// Registers: at most 72.
#include "cuda/activation/gate_rows.h"
#include "gelu_and_mul.gen.h"

namespace opcast_ops {

opcast::Status GeluAndMulCuda(const GeluAndMulArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) { return GateRows<Normal, ShortNormal>(a, launch); });
}

}  // namespace opcast_ops
