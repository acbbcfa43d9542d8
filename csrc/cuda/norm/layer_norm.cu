// y[i, j] = (x[i, j] - mean) / sqrt(variance + eps) * weight[j] + bias[j] with the mean and the
// population variance of row i, dense rows; see layer_norm.h.
//
// Registers: at most 128.
// sass: allows fp64 in RowsKernel: precision, as the head of this file says
// sass: allows narrow in RowsKernel: arrays whose rows are not aligned
#include "cuda/norm/layer_norm.h"
#include "layer_norm.gen.h"

namespace opcast_ops {

opcast::Status LayerNormCuda(const LayerNormArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    using W = typename std::decay_t<decltype(a)>::W;
    const LayerNormRow<T, Columns<W>> row{
        a.y, a.mean, a.rstd, a.x, {a.weight, a.bias}, NormSizes(a.eps, a.N)};
    return ForRows<kFewerThreads>(a.batch, a.N, AlignedRows<T>({a.y, a.x, a.weight, a.bias}, a.N),
                                  launch, row);
  });
}

}  // namespace opcast_ops
