// y[i, j] = gelu(x[i, j]) * x[i, D + j], dense rows, with gelu's tanh form. For 16 bits in
// float, but in double where a part of that leaves the range of floats, although the result need
// not; for float32 in double. Rounded once.
#include "cpu/lib/standard_headers.h"

#include "cpu/activation/gelu_gate.h"
#include "gelu_tanh_and_mul.gen.h"

namespace opcast_ops {

opcast::Status GeluTanhAndMul(const GeluTanhAndMulArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) { return GateRows<GeluGate<TanhGelu>>(a, launch); });
}

}  // namespace opcast_ops
