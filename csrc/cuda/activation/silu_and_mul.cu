// y[i, j] = silu(x[i, j]) * x[i, D + j], dense rows; see gate_rows.h.
//
// Registers: at most 64.
// sass: allows narrow in RowsKernel: arrays whose rows are not aligned
#include "cuda/activation/gate_rows.h"
#include "silu_and_mul.gen.h"

namespace opcast_ops {

opcast::Status SiluAndMulCuda(const SiluAndMulArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) { return GateRows<Logistic, ShortLogistic>(a, launch); });
}

}  // namespace opcast_ops
