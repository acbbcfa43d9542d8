// The gradients of layernorm2d, from the mean and 1 / sqrt(variance + eps) of each row; see
// layer_norm_backward.h.
//
// Registers: at most 232.
// sass: allows call, fp64 in ColumnsKernel: precision, as the head of this file says
// sass: allows narrow in ColumnsKernel: arrays whose rows are not aligned
// sass: allows fp64 in TotalsKernel: precision, as the head of this file says
#include "cuda/norm/layer_norm_backward.h"
#include "layernorm2d_backward.gen.h"

namespace opcast_ops {

opcast::Status Layernorm2dBackwardCuda(const Layernorm2dBackwardArgs& args,
                                       const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    using W = typename std::decay_t<decltype(a)>::T;
    const LayerNormBackwardRow<T, W> row{a.grad_x, a.grad_y, a.x, a.weight, a.mean, a.rstd};
    const bool aligned = AlignedRows<T>({a.grad_x, a.grad_y, a.x, a.weight}, a.N);
    return ForRowsAndColumns(a.M, a.N, aligned, launch, row, a.partials,
                             ColumnTotals<W, 2>{{a.grad_weight, a.grad_bias}});
  });
}

}  // namespace opcast_ops
