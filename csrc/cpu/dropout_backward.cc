// grad_x[i] = grad_y[i] / (1 - p) where dropout keeps number i, else 0: what dropout does to x.
#include "dropout.h"
#include "dropout_backward.gen.h"

namespace opcast_ops {

opcast::Status DropoutBackward(const DropoutBackwardArgs& args, const opcast::Launch& launch) {
  return Visit(
      args, [&](const auto& a) { return DropAll(launch, a.seed, a.p, a.N, a.grad_y, a.grad_x); });
}

}  // namespace opcast_ops
