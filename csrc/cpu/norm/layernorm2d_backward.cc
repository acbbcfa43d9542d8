// The gradients of layernorm2d, from the mean and 1 / sqrt(variance + eps) of each row; see
// layer_norm_backward.h.
#include "cpu/lib/standard_headers.h"

#include "cpu/norm/layer_norm_backward.h"
#include "layernorm2d_backward.gen.h"

namespace opcast_ops {

opcast::Status Layernorm2dBackward(const Layernorm2dBackwardArgs& args,
                                   const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using A = std::decay_t<decltype(a)>;
    const layer_norm::BackwardArrays<typename A::T, typename A::T> rows{
        a.grad_x, a.grad_weight, a.grad_bias, a.grad_y, a.x, a.weight, a.mean, a.rstd, a.N};
    return layer_norm::BackwardOfAll(rows, a.M, launch);
  });
}

}  // namespace opcast_ops
