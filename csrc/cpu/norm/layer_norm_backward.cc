// The gradients of layer_norm, from the mean and 1 / sqrt(variance + eps) of each row; see
// layer_norm_backward.h.
#include "cpu/lib/standard_headers.h"

#include "cpu/norm/layer_norm_backward.h"

#include "layer_norm_backward.gen.h"

namespace opcast_ops {

namespace layer_norm {
OPCAST_LAYER_NORM_BACKWARD(float);
OPCAST_LAYER_NORM_BACKWARD(opcast::f16);
OPCAST_LAYER_NORM_BACKWARD(opcast::bf16);
}  // namespace layer_norm

opcast::Status LayerNormBackward(const LayerNormBackwardArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using A = std::decay_t<decltype(a)>;
    const layer_norm::BackwardArrays<typename A::T, typename A::W> rows{
        a.grad_x, a.grad_weight, a.grad_bias, a.grad_y, a.x, a.weight, a.mean, a.rstd, a.N};
    return layer_norm::BackwardOfAll(rows, a.batch, launch);
  });
}

}  // namespace opcast_ops
