// y[i] = x[i] / (1 - p) where number i of the stream is p or more, else 0 (see common/philox.h).
// The product with 1 / (1 - p), a float, is float, and is rounded once.
//
// Registers: at most 64.
#include "dropout.gen.h"
#include "dropout.h"

namespace opcast_ops {

opcast::Status DropoutCuda(const DropoutArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) { return DropAll(launch, a.seed, a.p, a.N, a.x, a.y); });
}

}  // namespace opcast_ops
