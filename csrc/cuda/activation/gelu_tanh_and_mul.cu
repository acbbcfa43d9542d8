// y[i, j] = gelu(x[i, j]) * x[i, D + j], dense rows, with gelu's tanh form; see gate_rows.h.
//
// Registers: at most 64.
// sass: allows narrow in RowsKernel: arrays whose rows are not aligned
#include "cuda/activation/gate_rows.h"
#include "gelu_tanh_and_mul.gen.h"

namespace opcast_ops {

opcast::Status GeluTanhAndMulCuda(const GeluTanhAndMulArgs& args, const opcast::Launch& launch) {
  return Visit(
      args, [&](const auto& a) { return GateRows<CubicLogistic, ShortCubicLogistic>(a, launch); });
}

}  // namespace opcast_ops
