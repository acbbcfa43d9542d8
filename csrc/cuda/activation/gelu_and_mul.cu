// y[i, j] = gelu(x[i, j]) * x[i, D + j], dense rows, with the exact gelu; see gate_rows.h.
//
// Registers: at most 72.
// sass: allows call in RowsKernel: precision, as the head of this file says
// sass: allows narrow in RowsKernel: arrays whose rows are not aligned
#include "cuda/activation/gate_rows.h"
#include "gelu_and_mul.gen.h"

namespace opcast_ops {

opcast::Status GeluAndMulCuda(const GeluAndMulArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) { return GateRows<Normal, ShortNormal>(a, launch); });
}

}  // namespace opcast_ops
